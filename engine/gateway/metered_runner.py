"""A runner whose launches are counted, by the architecture they are for."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import Counter

from engine.model.graph import TaskSpec
from engine.model.ids import AttemptKey
from engine.ports.taskrunner import Exit, TaskRequest, TaskRunner


class MeteredRunner:
    def __init__(self, inner: TaskRunner, launches: Counter) -> None:
        """launches: with a label for the architecture."""
        self._inner, self._launches = inner, launches

    @property
    def outlives(self) -> bool:
        return self._inner.outlives

    async def refuses(self, task: TaskSpec) -> str:
        return await self._inner.refuses(task)

    async def run(self, request: TaskRequest, started: Callable[[], None]) -> Exit:
        self._launches.labels(request.placement.architecture or "any").inc()
        return await self._inner.run(request, started)

    async def stop(self, key: AttemptKey) -> None:
        await self._inner.stop(key)
