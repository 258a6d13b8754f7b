"""Sub-workflows, launch plans and @dynamic tasks that fail at first, and whose authors asked for another try."""

import typing
from datetime import timedelta
from pathlib import Path
from time import sleep

from flytekit import LaunchPlan, dynamic, map_task, task, workflow


@task
def counted(path: str, good_from: int) -> int:
    """How often it was called, this call included; it fails until that is `good_from`."""
    with Path(path).open("a") as file:
        file.write("x")
    calls = len(Path(path).read_text())
    if calls < good_from:
        raise ValueError(f"call {calls} of {good_from}")
    return calls


@task
def slow(path: str, seconds: float) -> int:
    """Slow at its first call only."""
    with Path(path).open("a") as file:
        file.write("x")
    calls = len(Path(path).read_text())
    if calls == 1:
        sleep(seconds)
    return calls


@task
def total(ns: typing.List[int]) -> int:
    return sum(ns)


@workflow
def twice(path: str, good_from: int) -> int:
    return total(ns=[counted(path=path, good_from=good_from), 100])


plan = LaunchPlan.get_or_create(twice, name="twice-plan")


@workflow
def by_sub_workflow(path: str, good_from: int) -> int:
    return twice(path=path, good_from=good_from).with_overrides(retries=2)


@workflow
def by_plan(path: str, good_from: int) -> int:
    return plan(path=path, good_from=good_from).with_overrides(retries=2)


@dynamic(retries=2)
def planned(path: str, good_from: int) -> int:
    return total(ns=[counted(path=path, good_from=good_from), 100])


@workflow
def by_dynamic(path: str, good_from: int) -> int:
    return planned(path=path, good_from=good_from)


@workflow
def waiting(path: str, seconds: float) -> int:
    return slow(path=path, seconds=seconds)


@workflow
def by_timeout(path: str, seconds: float) -> int:
    return waiting(path=path, seconds=seconds).with_overrides(retries=1, timeout=timedelta(seconds=15))


@workflow
def by_map(paths: typing.List[str], good_from: typing.List[int]) -> typing.List[int]:
    return map_task(plan)(path=paths, good_from=good_from).with_overrides(retries=2)
