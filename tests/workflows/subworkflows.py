"""Workflows inside workflows, and a failure policy."""

from flytekit import WorkflowFailurePolicy, task, workflow


@task
def double(n: int) -> int:
    return 2 * n


@workflow(failure_policy=WorkflowFailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE)
def inner(n: int = 5) -> int:
    return double(n=n)


@workflow
def middle(n: int) -> tuple[int, int]:
    return inner(n=n), inner()


@workflow
def outer(n: int) -> int:
    a, _ = middle(n=n)
    return double(n=a)
