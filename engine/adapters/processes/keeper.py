"""Keeps one zygote of a kind at work: started when it is first wanted, and again, with back-off, after it died."""

from __future__ import annotations

from collections.abc import Callable

import anyio
from anyio.abc import TaskGroup

from engine.adapters.processes.parent import Parent

FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS = 0.1, 5.0
READY_SECONDS = 60.0
"""For an import of flytekit; some environments are slow, but one that hangs must not hold up every task."""
STEADY_SECONDS = 60.0
"""A zygote that lived this long did not die of being started."""


class Keeper:
    def __init__(self, tasks: TaskGroup, make: Callable[[], Parent]) -> None:
        self._tasks, self._make = tasks, make
        self._lock = anyio.Lock()
        self._parent: Parent | None = None
        self._deaths = 0
        self._started_at = 0.0

    async def get(self) -> Parent:
        """A zygote that is ready (or, if it died of getting ready, says so). Raises OSError: it can't be started."""
        async with self._lock:
            if self._parent is None or not self._parent.alive:
                await self._wait_after_deaths()
                self._started_at = anyio.current_time()
                parent = self._make()
                await self._tasks.start(parent.serve)
                self._parent = parent
            else:
                parent = self._parent
        with anyio.move_on_after(READY_SECONDS):
            await parent.ready.wait()
        if not parent.ready.is_set():
            parent.kill()
            await parent.ready.wait()
        return parent

    async def _wait_after_deaths(self) -> None:
        if self._parent is None:
            return
        steady = anyio.current_time() - self._started_at > STEADY_SECONDS
        self._deaths = 1 if steady else self._deaths + 1
        await anyio.sleep(min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2 ** (self._deaths - 1)))
