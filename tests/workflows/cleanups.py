"""Failure nodes: tasks, sub-workflows, of workflows and of sub-workflows."""

import typing
from pathlib import Path

from flytekit import LaunchPlan, WorkflowFailurePolicy, task, workflow
from flytekit.types.error import FlyteError


@task
def nope(x: int, path: str) -> int:
    if x:
        raise ValueError(f"nope {x}")
    return x


@task
def same(x: int) -> int:
    return x


def note(path: str, who: str, x: int, err: typing.Optional[FlyteError]) -> None:
    """One line a call, so that a test can count them."""
    told = "nothing" if err is None else f"{err.failed_node_id} {err.message.strip().splitlines()[-1].strip()}"
    with Path(path).open("a") as file:
        file.write(f"{who} {x} {told}\n")


@task
def clean(x: int, path: str, err: typing.Optional[FlyteError] = None) -> None:
    note(path, "clean", x, err)


@task
def clean_blindly(x: int, path: str) -> None:
    note(path, "blind", x, None)


@task
def clean_badly(x: int, path: str, err: typing.Optional[FlyteError] = None) -> None:
    note(path, "badly", x, err)
    raise ValueError("no soap")


@workflow
def clean_in_two_steps(x: int, path: str, err: typing.Optional[FlyteError] = None) -> None:
    first = clean(x=x, path=path, err=err)
    second = clean_blindly(x=x, path=path)
    first >> second


@workflow(on_failure=clean)
def one(x: int, path: str) -> int:
    return nope(x=same(x=x), path=path)


@workflow(on_failure=clean_blindly)
def blind(x: int, path: str) -> int:
    return nope(x=x, path=path)


@workflow(on_failure=clean_badly)
def badly(x: int, path: str) -> int:
    return nope(x=x, path=path)


@workflow(on_failure=clean_in_two_steps)
def by_workflow(x: int, path: str) -> int:
    return nope(x=x, path=path)


@workflow(on_failure=clean, failure_policy=WorkflowFailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE)
def patient(x: int, path: str) -> typing.Tuple[int, int]:
    return nope(x=x, path=path), same(x=x)


@workflow(on_failure=clean)
def outer(x: int, path: str) -> int:
    return one(x=same(x=x), path=path)


plan = LaunchPlan.get_or_create(one, name="one-plan")


@workflow(on_failure=clean)
def by_plan(x: int, path: str) -> int:
    return plan(x=x, path=path)
