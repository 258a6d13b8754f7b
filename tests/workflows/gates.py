"""Workflows that wait: for a person's number, for an approval, for a time."""

from datetime import timedelta
from typing import Optional

from flytekit import approve, sleep, task, wait_for_input, workflow

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
    sleep(timedelta(milliseconds=200))


@workflow
def impatient() -> int:
    return wait_for_input("never", timeout=timedelta(seconds=1), expected_type=int)
