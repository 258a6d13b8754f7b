"""The tasks of the effects: they outlive the turn that asked for them, and none outlives the engine.

They are asyncio's own: an anyio task costs ten times as much, and there is one for every effect. What runs in them may
use anyio as everywhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

import anyio
from anyio import TASK_STATUS_IGNORED
from anyio.abc import TaskStatus


class Crew:
    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[asyncio.Task[None], Callable[[], None]] = {}
        self._trouble: asyncio.Future[None] = self._loop.create_future()

    def start(self, work: Coroutine[None, None, None], over: Callable[[], None]) -> asyncio.Task[None]:
        """`over` is called when the task has ended: also when it was cancelled before its first step."""
        task = self._loop.create_task(work)
        self._tasks[task] = over
        task.add_done_callback(self._ended)
        return task

    async def run(self, *, task_status: TaskStatus[None] = TASK_STATUS_IGNORED) -> None:
        """Stand by until cancelled, then end every task and wait for it. Raises the first error that a task raised."""
        task_status.started()
        try:
            await self._trouble
        finally:
            with anyio.CancelScope(shield=True):
                await self._end()

    async def _end(self) -> None:
        while self._tasks:
            for task in list(self._tasks):
                task.cancel()
            await asyncio.wait(list(self._tasks))

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task)()
        if task.cancelled() or (error := task.exception()) is None:
            return
        if not self._trouble.done():
            self._trouble.set_exception(error)
