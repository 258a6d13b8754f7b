"""References to what is registered: tasks and launch plans by their ids, mapped and with defaults."""

from typing import Optional

from flytekit import (
    LaunchPlan,
    conditional,
    dynamic,
    map_task,
    reference_launch_plan,
    reference_task,
    task,
    workflow,
)

HERE = {"project": "p", "domain": "d", "version": "v1"}


@task
def double(n: int) -> int:
    return n * 2


@task
def total(ns: list[int]) -> int:
    return sum(ns)


@task
def worded(n: int, text: str = "dflt", maybe: Optional[int] = None) -> str:
    return f"{text}{n}{maybe}"


@workflow
def halves(n: int, text: str = "wf") -> tuple[int, str]:
    return double(n=n), worded(n=n, text=text)


plan = LaunchPlan.get_or_create(
    halves, name="references-plan", default_inputs={"n": 21}, fixed_inputs={"text": "fixed"}
)


@reference_task(name="references.double", **HERE)
def their_double(n: int) -> int: ...


@reference_task(name="references.worded", **HERE)
def their_worded(n: int, text: str, maybe: Optional[int]) -> str: ...


@reference_launch_plan(name="references-plan", **HERE)
def their_plan(n: int) -> tuple[int, str]: ...


@reference_launch_plan(name="references.halves", **HERE)
def their_default_plan(n: int, text: str) -> tuple[int, str]: ...


@workflow
def tasks(n: int) -> tuple[int, str, str]:
    return their_double(n=double(n=n)), their_worded(n=n, text="y", maybe=None), their_worded(n=n, text="x", maybe=3)


@workflow
def plans(n: int) -> tuple[int, str, int, str]:
    a, b = their_plan(n=n)
    c, d = their_default_plan(n=a, text="given")
    return a, b, c, d


@workflow
def mapped(ns: list[int]) -> tuple[list[int], int]:
    made = map_task(their_double)(n=ns)
    return made, total(ns=made)


@workflow
def in_arms(n: int) -> int:
    return conditional("arms").if_(n > 3).then(their_double(n=n)).else_().then(double(n=0))


@dynamic
def planned(n: int) -> int:
    return total(ns=[their_plan(n=k)[0] for k in range(n)])


@workflow
def in_a_dynamic(n: int) -> int:
    return planned(n=n)
