"""Annotations that are text when flytekit looks at them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import NamedTuple, Optional

from flytekit import dynamic, map_task, task, workflow


@dataclass
class Point:
    x: int
    maybe: Optional[int] = None


class Two(NamedTuple):
    point: Point
    rest: list[int]


@task
def made(n: int, at: dt.date | None = None) -> Two:
    return Two(Point(n), [n, n + 1])


@task
def inc(n: int) -> int:
    return n + 1


@task
def shown(point: Point, rest: list[int], either: int | str | None = None) -> str:
    return f"{point} {rest} {either!r}"


@dynamic
def later(n: int) -> list[int]:
    return [inc(n=k) for k in range(n)]


@workflow
def through(n: int, either: int | str | None = "x") -> tuple[str, list[int], list[int]]:
    two = made(n=n)
    return shown(point=two.point, rest=two.rest, either=either), map_task(inc)(n=two.rest), [inc(n=two.point.x)]


@workflow
def dynamically(n: int) -> list[int]:
    return later(n=n)
