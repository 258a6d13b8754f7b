"""The tasks of the package."""

from flytekit import dynamic, map_task, task, workflow

from .. import numbers
from ..numbers import SEVEN


@task
def add(a: int, b: int) -> int:
    return a + b


@task
def constant(n: int) -> int:
    return n * SEVEN + numbers.ONE


@dynamic
def planned(n: int) -> list[int]:
    return [add(a=k, b=n) for k in range(n)]


@workflow
def doubled(n: int) -> int:
    return add(a=n, b=n)


@workflow
def mapped(ns: list[int]) -> list[int]:
    return map_task(constant)(n=ns)


@workflow
def dynamically(n: int) -> list[int]:
    return planned(n=n)
