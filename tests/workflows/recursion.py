"""Dynamic tasks that plan themselves: directly, through a sub-workflow, and through a conditional."""

from flytekit import conditional, dynamic, task, workflow


@task
def add(a: int, b: int) -> int:
    return a + b


@dynamic
def fib(n: int) -> int:
    if n < 2:
        return n
    return add(a=fib(n=n - 1), b=fib(n=n - 2))


@workflow
def sort(xs: list[int]) -> list[int]:
    return merge_sort(xs=xs)


@task
def merge(a: list[int], b: list[int]) -> list[int]:
    return sorted([*a, *b])


@dynamic
def merge_sort(xs: list[int]) -> list[int]:
    """By way of a sub-workflow that contains the task itself."""
    if len(xs) < 2:
        return xs
    middle = len(xs) // 2
    return merge(a=sort(xs=xs[:middle]), b=sort(xs=xs[middle:]))


@task
def halves(xs: list[int]) -> tuple[list[int], list[int], int]:
    middle = len(xs) // 2
    return xs[:middle], xs[middle:], len(xs)


@workflow
def sort_by_branch(xs: list[int]) -> list[int]:
    """Recursion through a conditional: flytesnacks has merge sort like this."""
    left, right, size = halves(xs=xs)
    return conditional("small").if_(size < 2).then(copy(xs=xs)).else_().then(sort_halves(left=left, right=right))


@task
def copy(xs: list[int]) -> list[int]:
    return xs


@dynamic
def sort_halves(left: list[int], right: list[int]) -> list[int]:
    return merge(a=sort_by_branch(xs=left), b=sort_by_branch(xs=right))


@workflow
def wf_fib(n: int) -> int:
    return fib(n=n)


@workflow
def wf_sort(xs: list[int]) -> list[int]:
    return merge_sort(xs=xs)


@workflow
def wf_sort_by_branch(xs: list[int]) -> list[int]:
    return sort_by_branch(xs=xs)
