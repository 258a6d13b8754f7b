"""Recursion: a dynamic workflow that splits, a condition that ends it."""

from typing import Tuple

from flytekit import conditional, dynamic, task, workflow


@task
def split(numbers: list[int]) -> Tuple[list[int], list[int], int, int]:
    middle = len(numbers) // 2
    return numbers[:middle], numbers[middle:], middle, len(numbers) - middle


@task
def sort_locally(numbers: list[int]) -> list[int]:
    return sorted(numbers)


@task
def merge(a: list[int], b: list[int]) -> list[int]:
    merged = []
    while a and b:
        merged.append(a.pop(0) if a[0] <= b[0] else b.pop(0))
    return merged + a + b


@dynamic
def sort_remotely(numbers: list[int], at_most: int) -> list[int]:
    first, second, first_count, second_count = split(numbers=numbers)
    return merge(
        a=merge_sort(numbers=first, count=first_count, at_most=at_most),
        b=merge_sort(numbers=second, count=second_count, at_most=at_most),
    )


@workflow
def merge_sort(numbers: list[int], count: int, at_most: int = 3) -> list[int]:
    return (
        conditional("terminal_case")
        .if_(count <= at_most)
        .then(sort_locally(numbers=numbers))
        .else_()
        .then(sort_remotely(numbers=numbers, at_most=at_most))
    )
