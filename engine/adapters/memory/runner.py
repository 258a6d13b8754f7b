"""A runner without processes, for tests and benchmarks: a script says how each attempt ends."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from functools import partial
from typing import NamedTuple

import anyio

from engine.adapters.attempts import Attempts
from engine.model.errors import Defect
from engine.model.graph import TaskSpec
from engine.model.ids import AttemptKey, ExecutionId
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest

Script = Callable[[TaskRequest], Exit | Awaitable[Exit]]
"""What an attempt does: see scripts.py for ready ones."""


class What(StrEnum):
    STARTED = "started"
    ENDED = "ended"


class Mark(NamedTuple):
    what: What
    key: AttemptKey
    at: float
    """Seconds of the event loop's clock."""


class NoopRunner:
    """A TaskRunner. Attempts that wait for a slot are served in the order of their calls, as with real processes.

    Two live attempts of one node, or of one element, raise Defect: a test that starts them fails by itself.
    """

    outlives = False

    def __init__(self, script: Script, *, max_concurrent: int | None = None) -> None:
        self.script = script
        """May be replaced while nothing runs."""
        self.launches: Counter[AttemptKey] = Counter()
        self.marks: list[Mark] = []
        self.most_alive = 0
        """The most attempts that were live at one time."""
        self._attempts = Attempts(max_concurrent)
        self._alive: dict[AttemptKey, AttemptKey] = {}
        """By the key of the first attempt, which stands for the node or element."""

    async def refuses(self, task: TaskSpec) -> str:
        return ""

    async def run(self, request: TaskRequest, started: Callable[[], None]) -> Exit:
        return await self._attempts.run(request.key, started, partial(self._perform, request), request.root)

    async def stop(self, key: AttemptKey) -> None:
        await self._attempts.stop(key)

    def waits(self, execution: ExecutionId) -> Mapping[str, str]:
        """See engine.ports.waits."""
        return self._attempts.waits(execution)

    async def _perform(self, request: TaskRequest, begin: Callable[[], None]) -> Exit:
        key = request.key
        first = key.attempt == key.node_attempt == 0
        node = key if first else AttemptKey(key.execution, key.path, 0, key.index, 0)
        if (other := self._alive.setdefault(node, key)) is not key:
            raise Defect(f"attempt {key} was started while attempt {other} of the same node runs")
        clock = asyncio.get_running_loop().time
        self.launches[key] += 1
        self.marks.append(Mark(What.STARTED, key, clock()))
        self.most_alive = max(self.most_alive, len(self._alive))
        try:
            played = self.script(request)
            if isinstance(played, Exit):
                if played.reason not in (ExitReason.REFUSED, ExitReason.NOT_STARTED):
                    begin()
                return played
            begin()
            return await _in_time(played, request.timeout_seconds)
        finally:
            del self._alive[node]
            self.marks.append(Mark(What.ENDED, key, clock()))


async def _in_time(played: Awaitable[Exit], seconds: float | None) -> Exit:
    if seconds is None:
        return await played
    with anyio.move_on_after(seconds):
        return await played
    return Exit(ExitReason.TIMED_OUT, 0, f"it had not ended {seconds:g} s after its start")
