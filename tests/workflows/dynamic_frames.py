"""Conditionals, sleeps and failure nodes in the plans of dynamic tasks, and dynamic tasks in those."""

from datetime import timedelta
from typing import Optional

from dynamics import add, odd_only, said, sq, total, twice
from flytekit import conditional, dynamic, sleep, task, workflow
from flytekit.types.error.error import FlyteError
from recursion import fib


@task
def tell(n: int, err: Optional[FlyteError] = None) -> None:
    print(n, err)


@dynamic
def plan_of_cleaning(n: int, err: Optional[FlyteError] = None) -> None:
    tell(n=n, err=err)
    said(text="cleaned", path="/dev/null")


@workflow(on_failure=plan_of_cleaning)
def fails_and_cleans(n: int) -> int:
    return odd_only(n=n)


@dynamic
def runs_what_cleans(n: int) -> int:
    return add(a=fails_and_cleans(n=n), b=sq(a=n))


@dynamic
def sleeps(n: int) -> int:
    slept = sleep(timedelta(milliseconds=20))
    result = sq(a=n)
    slept >> result
    return result


@dynamic
def chooses(n: int) -> int:
    """Conditionals in a plan: their arms are tasks, maps of plans' values, and other dynamic tasks."""
    size = sq(a=n)
    return (
        conditional("size").if_(size < 5).then(twice(n=size)).elif_(size < 50).then(fib(n=5)).else_().fail("too large")
    )


@workflow
def wf_cleans(n: int) -> int:
    return runs_what_cleans(n=n)


@workflow
def wf_sleeps(n: int) -> int:
    return sleeps(n=n)


@workflow
def wf_chooses(n: int) -> int:
    return chooses(n=n)


@workflow
def wf_chosen(n: int) -> int:
    """A dynamic task in an arm."""
    return conditional("n").if_(n < 3).then(fib(n=n)).else_().then(total(xs=[n, n]))
