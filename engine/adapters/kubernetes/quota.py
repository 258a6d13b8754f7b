"""Waiting for room in a namespace whose quota is used up: one pod asks at a time, longer and longer apart.

So a map of a thousand pods over the quota asks as seldom as a single pod does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from engine.adapters.kubernetes.waits import Waits
from engine.adapters.slots import Slots
from engine.model.ids import AttemptKey

FIRST_SECONDS, LONGEST_SECONDS = 2.0, 120.0


class Quota:
    def __init__(self) -> None:
        self._turns = Slots(1)
        self._waits = Waits(FIRST_SECONDS, LONGEST_SECONDS)
        self._freed = anyio.Event()
        self._short = False

    @property
    def short(self) -> bool:
        """There was no room when somebody asked last."""
        return self._short

    @asynccontextmanager
    async def asking(self, turn: AttemptKey) -> AsyncIterator[bool]:
        """Ask inside, then say `full` or `fits`. Executions take turns. Gives whether nobody else asks meanwhile."""
        if not self._short:
            yield False
            return
        async with self._turns.one(turn):
            if self._short:
                with anyio.move_on_after(self._waits.next()):
                    await self._freed.wait()
            yield True

    def full(self) -> None:
        self._short = True
        self._freed = anyio.Event()

    def fits(self) -> None:
        self._short = False
        self._waits.again()

    def freed(self) -> None:
        """A pod is over or gone: who waits may ask now."""
        self._freed.set()
