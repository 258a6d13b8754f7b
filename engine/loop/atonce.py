"""Work that waits for the store, some of it at the same time: the slowest counts, and not the sum."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import anyio

from engine.model.errors import EngineError

AT_ONCE = 16


async def all_of(work: Sequence[Callable[[], Awaitable[object]]]) -> None:
    """AT_ONCE at a time, begun in their order. Raises the first failure as it is: it says what stops the engine."""
    if len(work) <= 1:
        for do in work:
            await do()
        return
    waiting = iter(work)
    failures: list[EngineError] = []

    async def some() -> None:
        for do in waiting:
            try:
                await do()
            except EngineError as failure:
                failures.append(failure)
                tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        for _ in range(min(len(work), AT_ONCE)):
            tasks.start_soon(some)
    if failures:
        raise failures[0]
