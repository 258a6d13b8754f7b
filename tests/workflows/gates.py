"""Workflows that wait: for a person's number, for an approval, for a time."""

from datetime import timedelta
from typing import Optional

from flytekit import LaunchPlan, approve, conditional, dynamic, sleep, task, wait_for_input, workflow

HOUR = timedelta(hours=1)


@task
def double(n: int) -> int:
    return n * 2


@task
def total(ns: list[int], label: Optional[str]) -> str:
    return f"{label}: {sum(ns)}"


@workflow
def asks(n: int) -> int:
    """Doubles a number from outside after a short sleep, if somebody approves."""
    said = wait_for_input("how-many", timeout=HOUR, expected_type=int)
    slept = sleep(timedelta(seconds=1))
    doubled = double(n=said)
    slept >> doubled
    approved = approve(doubled, "sure", timeout=HOUR)
    return double(n=approved)


@workflow
def takes_lists() -> str:
    numbers = wait_for_input("numbers", timeout=HOUR, expected_type=list[int])
    label = wait_for_input("label", timeout=HOUR, expected_type=Optional[str])
    return total(ns=numbers, label=label)


@workflow
def sleeps() -> None:
    for _ in range(5):
        sleep(timedelta(milliseconds=200))


@workflow
def impatient() -> int:
    return wait_for_input("never", timeout=timedelta(seconds=1), expected_type=int)


@dynamic
def plans_gates(n: int) -> int:
    """Waits for an approval that nobody knew of before it ran."""
    asked = approve(double(n=n), "planned", timeout=HOUR)
    return double(n=asked)


@workflow
def asks_in_a_plan(n: int) -> int:
    return plans_gates(n=n)


@workflow
def asks_for_doubled(n: int) -> int:
    return approve(double(n=n), "inner", timeout=HOUR)


@workflow
def asks_in_an_arm(n: int) -> int:
    return conditional("size").if_(n > 3).then(asks_for_doubled(n=n)).else_().then(double(n=n))


@workflow
def asks_by_a_child(n: int) -> int:
    return child_plan(n=n)


child_plan = LaunchPlan.get_or_create(asks_for_doubled, name="gates.child_plan")
