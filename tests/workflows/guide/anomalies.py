"""Map tasks: over a list, with bound inputs, with elements that may fail."""

from functools import partial
from typing import Optional

from flytekit import Resources, map_task, task, workflow

THRESHOLD = 11


@task
def detect(point: int) -> bool:
    return point > THRESHOLD


@task(retries=1)
def scaled(point: int, factor: float, offset: int) -> float:
    if point < 0:
        raise ValueError("points must not be negative")
    return point * factor + offset


@task
def report(flags: list[bool], values: list[Optional[float]]) -> str:
    shown = ", ".join("lost" if value is None else f"{value:.1f}" for value in values)
    return f"{sum(flags)} anomalies; {shown}"


@workflow
def find_anomalies(points: list[int] = [10, 12, 11, 10, 13, 12, -1], factor: float = 0.5) -> str:
    flags = map_task(detect, concurrency=4)(point=points).with_overrides(requests=Resources(mem="100Mi"))
    values = map_task(partial(scaled, factor=factor, offset=1), min_success_ratio=0.75)(point=points)
    return report(flags=flags, values=values)
