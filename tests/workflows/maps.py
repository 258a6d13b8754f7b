"""Map tasks: bound inputs, ratios, concurrency, retries on the elements."""

import functools
from typing import Optional

from flytekit import map_task, task, workflow


@task(retries=1)
def square(n: int) -> int:
    return n * n


@task
def scale(n: int, by: int, labels: list[str]) -> str:
    return f"{n * by}{''.join(labels)}"


@task
def odd_only(n: int) -> int:
    if n % 2 == 0:
        raise ValueError(f"{n} is even")
    return n


@task
def total(ns: list[int]) -> int:
    return sum(ns)


@task
def known(ns: list[Optional[int]]) -> int:
    return sum(n is not None for n in ns)


@task
def pair(n: int, text: str) -> str:
    return f"{n}{text}"


@workflow
def squares(ns: list[int]) -> int:
    return total(ns=map_task(square, concurrency=2)(n=ns))


@workflow
def scaled(ns: list[int], by: int) -> list[str]:
    return map_task(functools.partial(scale, by=by, labels=["x", "y"]))(n=ns)


@workflow
def mostly_odd(ns: list[int]) -> int:
    return known(ns=map_task(odd_only, min_success_ratio=0.6)(n=ns))


@workflow
def pairs(ns: list[int], texts: list[str]) -> list[str]:
    return map_task(pair)(n=ns, text=texts).with_overrides(retries=4, interruptible=True)


@workflow
def at_least_two(ns: list[int]) -> list[Optional[int]]:
    return map_task(odd_only, min_successes=2, min_success_ratio=None)(n=ns)
