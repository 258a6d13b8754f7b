"""A context manager that is entered and left by one task of its own, so that fixtures may hold it open."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    def __init__(self, manager: AbstractAsyncContextManager[T]) -> None:
        self._manager = manager
        self._entered: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._enough = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    async def value(self) -> T:
        """What the block gets; raises what entering it raises."""
        return await self._entered

    async def close(self) -> None:
        """Leave the block; raises what leaving it raises."""
        self._enough.set()
        await self._task

    async def _run(self) -> None:
        try:
            async with self._manager as value:
                self._entered.set_result(value)
                await self._enough.wait()
        except Exception as error:
            if self._entered.done():
                raise
            self._entered.set_exception(error)
