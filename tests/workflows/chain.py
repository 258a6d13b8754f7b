"""Tasks in a row, with defaults, overrides and order without data."""

import datetime
from typing import NamedTuple

from flytekit import task, workflow


class Stats(NamedTuple):
    total: int
    text: str


@task(retries=2, timeout=datetime.timedelta(minutes=5))
def add(a: int, b: int = 1) -> int:
    return a + b


@task
def describe(n: int, prefix: str = "n") -> Stats:
    return Stats(total=n, text=f"{prefix}={n}")


@task
def note(text: str) -> None:
    print(text)


@workflow
def chain(n: int, steps: str = "three") -> Stats:
    first = add(a=n)
    second = add(a=first, b=10).with_overrides(retries=5, node_name="second-step")
    third = add(a=second, b=n)
    said = note(text=steps)
    described = describe(n=third)
    said >> third
    return described


@workflow
def nothing() -> None:
    note(text="no inputs, no outputs")


@workflow
def passed_through(n: int) -> tuple[int, str]:
    return n, "constant"
