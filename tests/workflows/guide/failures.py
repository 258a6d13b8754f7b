"""A failure node tears down what was set up, whatever happened."""

import typing

from flytekit import WorkflowFailurePolicy, task, workflow
from flytekit.types.error.error import FlyteError


@task
def create_cluster(name: str, place: str):
    with open(place, "a") as file:
        file.write(f"created {name}\n")


@task
def delete_cluster(name: str, place: str):
    with open(place, "a") as file:
        file.write(f"deleted {name}\n")


@task
def run_job(n: int) -> int:
    if n > 3:
        raise ValueError("the job is too large")
    return n + 1


@task
def clean_up(name: str, place: str, n: int, err: typing.Optional[FlyteError] = None):
    with open(place, "a") as file:
        file.write(f"deleted {name} after {err.failed_node_id if err else 'nothing'}\n")


@task
def read(place: str) -> str:
    with open(place) as file:
        return file.read()


@workflow(on_failure=clean_up)
def with_cluster(name: str, place: str, n: int = 1) -> int:
    created = create_cluster(name=name, place=place)
    job = run_job(n=n)
    deleted = delete_cluster(name=name, place=place)
    created >> job
    job >> deleted
    return job


@workflow(failure_policy=WorkflowFailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE)
def best_effort(place: str) -> tuple[int, int]:
    return run_job(n=4), run_job(n=run_job(n=1))
