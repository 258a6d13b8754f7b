"""Failure nodes as launch plans, tasks that try again, and of workflows that fail inside arms, plans and dynamics."""

import os
from typing import Optional

from flytekit import LaunchPlan, WorkflowFailurePolicy, conditional, dynamic, map_task, task, workflow
from flytekit.exceptions.user import FlyteRecoverableException
from flytekit.types.error.error import FlyteError


@task
def inc(n: int) -> int:
    return n + 1


@task
def fails(n: int) -> int:
    """Never comes to return."""
    raise ValueError(f"boom {n}")


@task
def fails_above(n: int, limit: int) -> int:
    if n > limit:
        raise ValueError(f"{n} is above {limit}")
    return n


@task
def note(path: str, n: int, err: Optional[FlyteError] = None) -> None:
    with open(path, "a") as file:
        file.write(f"{n} {err.failed_node_id if err else None} {'boom' in err.message if err else None};")


@task
def note_plainly(path: str, n: int) -> None:
    with open(path, "a") as file:
        file.write(f"cleaned {n};")


@task(retries=2)
def note_at_last(path: str, n: int) -> None:
    with open(path, "a") as file:
        file.write("try;")
    if os.path.getsize(path) < 12:
        raise FlyteRecoverableException("not yet")


@workflow
def clean_plainly(path: str, n: int):
    note_plainly(path=path, n=n)


clean_plan = LaunchPlan.get_or_create(clean_plainly, name="cleanup_forms-plan")


@workflow(on_failure=note)
def by_task(path: str, n: int) -> int:
    return inc(n=fails(n=inc(n=n)))


@workflow(on_failure=note)
def not_needed(path: str, n: int) -> int:
    return inc(n=n)


@workflow(on_failure=clean_plan)
def by_plan(path: str, n: int) -> int:
    return fails(n=n)


@workflow(on_failure=note_at_last)
def by_flaky_task(path: str, n: int) -> int:
    return fails(n=n)


@workflow(on_failure=note)
def inner(path: str, n: int) -> int:
    return fails(n=inc(n=n))


inner_plan = LaunchPlan.get_or_create(inner, name="cleanup_forms-inner-plan")


@workflow(on_failure=note_plainly)
def around_a_plan(path: str, n: int) -> int:
    return inc(n=inner_plan(path=path, n=n))


@dynamic
def planned(n: int) -> int:
    return fails(n=inc(n=n))


@workflow(on_failure=note)
def in_a_dynamic(path: str, n: int) -> int:
    return planned(n=n)


@task
def note_all(path: str, ns: list[int], err: Optional[FlyteError] = None) -> None:
    with open(path, "a") as file:
        file.write(f"{ns} {err.failed_node_id if err else None};")


@workflow(on_failure=note_all)
def in_a_map(path: str, ns: list[int]) -> list[int]:
    return map_task(fails)(n=ns)


@workflow(on_failure=note)
def in_an_arm(path: str, n: int) -> int:
    return conditional("arm").if_(n > 0).then(fails(n=n)).else_().then(inc(n=n))


@workflow(on_failure=note_plainly, failure_policy=WorkflowFailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE)
def after_the_rest(path: str, n: int) -> tuple[int, int]:
    bad = fails(n=n)
    good = fails_above(n=inc(n=inc(n=n)), limit=100)
    note_plainly(path=path, n=good)
    return inc(n=bad), good
