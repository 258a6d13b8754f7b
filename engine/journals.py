"""What can be read of executions where several engines share a log with other processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.app import Engine
from engine.machine.selecting import chosen
from engine.model.errors import LogFailed
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact, Snapshot
from engine.ports.eventlog import EventLog, Selection


class OwnJournal:
    """A Journal: lists what the engines of this process hold; of others, what is asked for by name."""

    def __init__(self, engines: Mapping[int, Engine]) -> None:
        self._engines = engines

    async def executions(self) -> Sequence[Execution]:
        found = [record for engine in list(self._engines.values()) for record in await engine.log.executions()]
        return sorted(found, key=lambda record: record.submitted_at)

    async def select(self, wanted: Selection) -> Sequence[Execution]:
        return chosen(await self.executions(), wanted)

    async def find(self, ids: Sequence[ExecutionId]) -> dict[ExecutionId, Execution]:
        found: dict[ExecutionId, Execution] = {}
        for engine in list(self._engines.values()):
            found |= await engine.log.find(ids)
        for execution in ids:
            if execution not in found and (snapshot := await self.snapshot(execution)):
                found[execution] = snapshot.execution
        return found

    async def snapshot(self, execution: ExecutionId) -> Snapshot | None:
        return await self._any().snapshot(execution)

    async def history(self, execution: ExecutionId, after: int = 0, limit: int | None = None) -> Sequence[Fact]:
        return await self._any().history(execution, after, limit)

    def _any(self) -> EventLog:
        """The topics are open to the log of any partition."""
        for engine in self._engines.values():
            return engine.log
        raise LogFailed("no partition is restored yet; ask again later")
