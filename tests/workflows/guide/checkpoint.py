"""Retries that go on where the last attempt stopped."""

from flytekit import current_context, task, workflow
from flytekit.exceptions.user import FlyteRecoverableException

RETRIES = 3


@task(retries=RETRIES)
def use_checkpoint(iterations: int) -> int:
    checkpoint = current_context().checkpoint
    start = int(checkpoint.read().decode()) if checkpoint.restore(current_context().working_directory) else 0
    failing_every = iterations // RETRIES
    for index in range(start, iterations):
        if index > start and index % failing_every == 0:
            checkpoint.write(str(index).encode())
            raise FlyteRecoverableException(f"failed after {index} iterations, it must go on")
    return index


@workflow
def count_up(iterations: int = 10) -> int:
    return use_checkpoint(iterations=iterations)
