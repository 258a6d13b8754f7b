"""Two things at once, where the first error of either ends both and comes out as itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from engine.model.errors import EngineError

T = TypeVar("T")


async def together(first: Callable[[], Awaitable[None]], *others: Callable[[], Awaitable[None]]) -> None:
    """Run the calls concurrently until all have returned.

    Raises the first EngineError bare; any other exception comes in a group.
    """
    problems: list[EngineError] = []

    async def guarded(call: Callable[[], Awaitable[None]]) -> None:
        try:
            await call()
        except EngineError as problem:
            problems.append(problem)
            group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for call in others:
            group.start_soon(guarded, call)
        await guarded(first)
    if problems:
        raise problems[0]


async def accompanied(work: Callable[[], Awaitable[T]], company: Callable[[], Awaitable[None]]) -> T:
    """What `work` gives or raises, itself; `company` runs beside it and is cancelled at its end. It must not raise."""
    found: list[T] = []
    problems: list[Exception] = []

    async def accompany() -> None:
        await company()

    async with anyio.create_task_group() as group:
        group.start_soon(accompany)
        try:
            found.append(await work())
        except Exception as problem:  # noqa: BLE001 - raised below, where no group is around it
            problems.append(problem)
        group.cancel_scope.cancel()
    if problems:
        raise problems[0]
    return found[0]
