"""Reads and writes of small objects as plain data, so that a thread may do them, or another process.

Many at once go to a process of their own. A thread that makes many short system calls asks for the interpreter's lock
after each of them; while the event loop is busy it waits milliseconds for every one.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from engine.adapters.files.disk import Disk, run
from engine.adapters.files.porter import Porter
from engine.adapters.files.thread import IoThread

MANY = 24
"""Calls of one tick that are worth the way to another process and back."""
PORTION = 64
"""Calls that are handed over before the tick ends: they are under way while the loop prepares the next ones."""

Errand = tuple[Any, ...]
"""As `disk.run` takes them."""

AGAIN = frozenset({"read", "read_all", "size", "is_there", "write"})
"""Those that may be done twice: a porter that dies leaves some to be done again."""


class Errands:
    """Belongs to the event loop it was made in."""

    def __init__(self, disk: Disk, thread: IoThread) -> None:
        self._disk, self._thread = disk, thread
        self.porter: Porter | None = None
        self._loop = asyncio.get_running_loop()
        self._queued: list[tuple[asyncio.Future[Any], Errand]] = []

    def call(self, operation: str, *arguments: object) -> asyncio.Future[Any]:
        """As `IoThread.call`, for one of the disk's OPERATIONS."""
        self._thread.check_open()
        if not self._queued:
            self._loop.call_soon(self._hand_over)
        future: asyncio.Future[Any] = self._loop.create_future()
        self._queued.append((future, (operation, *arguments)))
        if len(self._queued) >= PORTION:
            self._hand_over()
        return future

    async def close(self) -> None:
        """Finish the calls already made, then end the porter and the thread."""
        self._hand_over()
        if self.porter is not None:
            await self.porter.close()
        await self._thread.close()

    def _hand_over(self) -> None:
        group, self._queued = self._queued, []
        porter = self.porter if len(group) >= MANY and all(errand[0] in AGAIN for _, errand in group) else None
        if group and (porter is None or not porter.take(group, self._do)):
            self._do(group)

    def _do(self, group: list[tuple[asyncio.Future[Any], Errand]]) -> None:
        """In the thread, after all."""
        self._thread.take([(future, partial(run, self._disk, errand)) for future, errand in group])
