"""An execution, with the child executions it starts, as the log tells it while another process works on the home."""

from __future__ import annotations

from engine.cli.past import children_of
from engine.gateway.documents import Documents
from engine.machine.execution import ExecutionState
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact, Snapshot
from engine.ports.eventlog import Told


class Mirror:
    """`states` holds what was read last; a state stays the same object for as long as it is mirrored."""

    def __init__(self, log: Told, documents: Documents) -> None:
        self._log, self._documents = log, documents
        self.states: dict[ExecutionId, ExecutionState] = {}
        self._has_looked = False

    async def look(self, execution: ExecutionId) -> tuple[list[Execution], list[Fact]]:
        """Read what is new of the execution and of those below it: records, parents first, and facts.

        The first look tells no facts: whatever the executions have done by then is in their states. It finds nothing
        where the engine has yet to take in what was submitted.
        """
        first, self._has_looked = not self._has_looked, True
        records: list[Execution] = []
        facts: list[Fact] = []
        waiting = [execution]
        while waiting:
            current = waiting.pop(0)
            known = self.states.get(current)
            if known is not None and known.record.terminal:
                continue
            snapshot = await self._log.snapshot(current)
            if snapshot is None:
                continue
            now = snapshot.execution.sequence
            since = known.record.sequence if known else now if first else 0
            if since < now:
                facts += [fact for fact in await self._log.history(current, since) if fact.sequence <= now]
            records.append(snapshot.execution)
            await self._take(snapshot, known)
            waiting += children_of(snapshot)
        return records, facts

    async def has_ended(self, execution: ExecutionId) -> bool:
        """Whether it is terminal by now; what `look` will tell stays as it is."""
        snapshot = await self._log.snapshot(execution)
        return snapshot is not None and snapshot.execution.terminal

    async def _take(self, snapshot: Snapshot, known: ExecutionState | None) -> None:
        fresh = await self._documents.state(snapshot)
        if known is None:
            self.states[snapshot.execution.id] = fresh
        else:
            known.record, known.nodes, known.live = fresh.record, fresh.nodes, fresh.live
