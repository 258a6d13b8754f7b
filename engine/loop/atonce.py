"""Work that waits for the store, some of it at the same time: the slowest counts, and not the sum."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from engine.data.together import together

AT_ONCE = 16


async def all_of(work: Sequence[Callable[[], Awaitable[object]]]) -> None:
    """AT_ONCE at a time, begun in their order. Raises the first failure as it is: it says what stops the engine."""
    waiting = iter(work)

    async def some() -> None:
        for do in waiting:
            await do()

    if len(work) > 1:
        await together(*[some] * min(len(work), AT_ONCE))
    else:
        await some()
