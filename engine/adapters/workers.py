"""A task group around a block whose own error comes out as it is, not wrapped with those of the tasks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup


@asynccontextmanager
async def workers() -> AsyncIterator[TaskGroup]:
    """Leaving the block waits for the tasks. Errors of tasks come in an exception group, as ever."""
    failed: list[BaseException] = []
    try:
        async with anyio.create_task_group() as tasks:
            try:
                yield tasks
            except BaseException as error:
                failed.append(error)
                raise
    except BaseExceptionGroup as group:
        if list(group.exceptions) != failed:
            raise
        raise failed[0] from failed[0].__cause__


@asynccontextmanager
async def helpers() -> AsyncIterator[TaskGroup]:
    """The same, for tasks that go on for ever: leaving the block cancels them."""
    async with workers() as tasks:
        yield tasks
        tasks.cancel_scope.cancel()
