"""Who wants to know what was committed: waiters for an execution's end, and views that follow facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import anyio

from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact

Watcher = Callable[[Sequence[Execution], Sequence[Fact]], None]


class Ending:
    """What a waiter for an execution's end holds."""

    def __init__(self) -> None:
        self._told = anyio.Event()
        self._record: Execution | None = None

    def tell(self, record: Execution) -> None:
        self._record = record
        self._told.set()

    async def wait(self) -> Execution:
        """The execution, once its end is committed."""
        await self._told.wait()
        assert self._record is not None
        return self._record


class Watchers:
    """Told after each commit, in the loop: a watcher must be quick and must not wait."""

    def __init__(self) -> None:
        self._watchers: list[Watcher] = []
        self._ends: dict[ExecutionId, list[Ending]] = {}

    def tell(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
        for watcher in list(self._watchers):
            watcher(executions, facts)
        for record in executions:
            if record.terminal and record.id in self._ends:
                for ending in self._ends[record.id]:
                    ending.tell(record)

    def add(self, watcher: Watcher) -> None:
        """From now on, for as long as the engine lives."""
        self._watchers.append(watcher)

    @contextmanager
    def watching(self, watcher: Watcher) -> Iterator[None]:
        self._watchers.append(watcher)
        try:
            yield
        finally:
            self._watchers.remove(watcher)

    @contextmanager
    def ending(self, execution: ExecutionId) -> Iterator[Ending]:
        """Told when the execution becomes terminal while the block is entered."""
        ended = Ending()
        waiters = self._ends.setdefault(execution, [])
        waiters.append(ended)
        try:
            yield ended
        finally:
            waiters.remove(ended)
            if not waiters:
                del self._ends[execution]
