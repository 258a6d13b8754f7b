"""One execution and those below it as the topics tell, read as far as somebody asks: for views of what is going on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

from engine.adapters.kafka import records
from engine.adapters.kafka.keys import split_key
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.reading import Found
from engine.adapters.kafka.visitor import Position, Visitor
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact, Node, Snapshot
from engine.wire import codec

MARGIN_SECONDS = 600.0
"""By which the clocks of engines, brokers and submitters may differ."""


class _Told:
    """What was read of one execution."""

    def __init__(self, position: Position) -> None:
        self.position = dict(position)
        """Where the next look begins."""
        self.record: Execution | None = None
        self.nodes: dict[str, Node] = {}
        self.facts: dict[int, Fact] = {}

    def take(self, which: Topic, found: Found) -> None:
        """Raises Unreadable."""
        if which is Topic.HISTORY:
            fact = records.fact_in(found)
            self.facts[fact.sequence] = fact
            return
        path = split_key(found.key or b"")[1]
        if path is None:
            self.record = codec.unpack_execution(found.value) if found.value else None
        elif found.value:
            self.nodes[path] = codec.unpack_node(found.value)
        else:
            self.nodes.pop(path, None)


class Trail:
    """A log to be looked at (engine.ports.eventlog.Told), of what it is asked for. Raises LogFailed."""

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor
        self._told: dict[ExecutionId, _Told] = {}

    def begin(self, execution: ExecutionId, position: Position) -> None:
        """All that is told of an execution lies behind these offsets of its states and its history."""
        self._told[execution] = _Told(position)

    async def executions(self) -> Sequence[Execution]:
        """Those that were asked for."""
        return [told.record for told in self._told.values() if told.record is not None]

    async def snapshot(self, execution: ExecutionId) -> Snapshot | None:
        told = await self._read(execution, Topic.STATE)
        if told.record is None:
            return None
        return Snapshot(told.record, tuple(node for _, node in sorted(told.nodes.items())))

    async def history(self, execution: ExecutionId, after: int = 0, limit: int | None = None) -> Sequence[Fact]:
        told = await self._read(execution, Topic.HISTORY)
        return [told.facts[number] for number in sorted(told.facts) if number > after][:limit]

    async def ended(self, execution: ExecutionId) -> None:
        """Returns when its states say that it has ended."""
        told = await self._read(execution, Topic.STATE)
        if told.record is not None and told.record.terminal:
            return
        async with aclosing(self._visitor.follow(execution, Topic.STATE, told.position[Topic.STATE])) as batches:
            async for batch in batches:
                for record in batch:
                    told.take(Topic.STATE, record)
                if told.record is not None and told.record.terminal:
                    return

    async def _read(self, execution: ExecutionId, which: Topic) -> _Told:
        """What is new, up to now."""
        told = self._told.setdefault(execution, _Told({Topic.STATE: 0}))
        if which not in told.position:
            since = told.record.submitted_at - MARGIN_SECONDS if told.record else 0.0
            told.position[which] = await self._visitor.first_after(execution, which, since)
        found, told.position[which] = await self._visitor.look(execution, which, told.position[which])
        for record in found:
            told.take(which, record)
        return told
