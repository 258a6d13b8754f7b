"""Workflows that fail until a file is there, and tell how often each task has run."""

import functools
import os
import time
from pathlib import Path

from flytekit import LaunchPlan, WorkflowFailurePolicy, dynamic, map_task, task, workflow


def ran(folder: str, what: str) -> None:
    with open(Path(folder) / "ran", "a") as told:
        told.write(f"{what}\n")


@task
def first(folder: str) -> int:
    ran(folder, "first")
    return 5


@task
def square(x: int, folder: str) -> int:
    ran(folder, f"square {x}")
    if x == 3 and not os.path.exists(f"{folder}/mended"):
        raise ValueError("not mended")
    return x * x


@task
def total(xs: list[int]) -> int:
    return sum(xs)


@workflow
def child(x: int, folder: str) -> int:
    return square(x=x, folder=folder)


child_plan = LaunchPlan.get_or_create(child, name="recovering.child_plan")


@dynamic
def several(n: int, folder: str) -> list[int]:
    ran(folder, "plan")
    return [square(x=x, folder=folder) for x in range(n)]


@workflow
def maps(folder: str, xs: list[int]) -> int:
    base = first(folder=folder)
    squares = map_task(functools.partial(square, folder=folder))(x=xs)
    base >> squares
    return total(xs=squares)


@workflow
def plans(folder: str) -> int:
    return total(xs=several(n=first(folder=folder), folder=folder))


@workflow
def launches(folder: str) -> int:
    good = child_plan(x=2, folder=folder)
    bad = child_plan(x=3, folder=folder)
    good >> bad
    return bad


@task
def waits(folder: str) -> None:
    while not os.path.exists(f"{folder}/go"):
        time.sleep(0.02)


@task
def squared(x: int) -> int:
    return x * x


@workflow(failure_policy=WorkflowFailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE)
def goes_on(folder: str) -> int:
    n0 = square(x=3, folder=folder)
    n1 = squared(x=n0)
    waits(folder=folder)
    return n1


@workflow(failure_policy=WorkflowFailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE)
def maps_go_on(folder: str, xs: list[int]) -> int:
    squares = map_task(functools.partial(square, folder=folder), concurrency=1)(x=xs)
    n1 = total(xs=squares)
    waits(folder=folder)
    return n1
