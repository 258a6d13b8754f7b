"""What one partition holds, for a check: its states, the facts about them and the events, read as they are stored.

Their order makes these reads agree while engines go on: whatever commit the states show has its facts in a history that
is read after them, and whatever facts show is in states that are read after those.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import nullcontext

from aiokafka import TopicPartition
from msgspec import Struct, field

from engine.adapters.kafka import faults, records
from engine.adapters.kafka.claim import claim_in
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.keys import BARRIER, CLAIM, execution_of, key_of, partition_of, split_key
from engine.adapters.kafka.oddnames import forgiving
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.reading import Found, read_to_end
from engine.model.errors import LogFailed
from engine.model.events import ExecutionSubmitted
from engine.model.ids import ExecutionId
from engine.model.requests import ExecutionRequested
from engine.model.state import Execution, Fact, Snapshot
from engine.wire import codec

Strange = tuple[str, str]
"""The key of a record, and what is wrong with it."""


class Slice(Struct):
    """The states of a partition. Nodes are kept as bytes: the most of them are looked at once."""

    partition: int
    cursor: int = 0
    """Offset of the next event to process, as of the last commit that is here."""
    end: int = 0
    """Of the state topic."""
    executions: dict[ExecutionId, Execution] = field(default_factory=dict)
    forgotten: set[ExecutionId] = field(default_factory=set)
    nodes: dict[ExecutionId, dict[str, bytes]] = field(default_factory=dict)
    unreadable: dict[ExecutionId, str] = field(default_factory=dict)
    """Executions with a node that was asked for and can't be read, and why."""
    strange: list[Strange] = field(default_factory=list)
    """Records of which nothing was read."""

    def snapshots(self) -> Iterator[Snapshot]:
        """Oldest submission first. What can't be read goes to `unreadable`."""
        for execution in sorted(self.executions, key=lambda it: self.executions[it].submitted_at):
            found = self.snapshot(execution)
            if found is not None:
                yield found

    def snapshot(self, execution: ExecutionId) -> Snapshot | None:
        try:
            nodes = [codec.unpack_node(raw) for _, raw in sorted(self.nodes.get(execution, {}).items())]
        except codec.Unreadable as problem:
            self.unreadable[execution] = str(problem)
            return None
        return Snapshot(self.executions[execution], tuple(nodes))

    def strays(self) -> list[ExecutionId]:
        """Executions that have nodes and no record of their own."""
        return [execution for execution, nodes in self.nodes.items() if nodes and execution not in self.executions]

    def take(self, record: Found, *, nodes: bool) -> None:
        if record.key is None or record.key in (CLAIM, BARRIER):
            claim = claim_in(record)
            self.cursor = claim.cursor if claim else self.cursor
            return
        try:
            key, path = split_key(record.key)
            execution = execution_of(key)
            if path is not None:
                if nodes:
                    self._node(execution, path, record.value)
            elif record.value is None:
                self.executions.pop(execution, None)
                self.forgotten.add(execution)
            else:
                self.executions[execution] = _execution(key, record.value)
                self.forgotten.discard(execution)
        except codec.Unreadable as problem:
            self.strange.append((record.key.decode(errors="backslashreplace"), f"offset {record.offset}: {problem}"))

    def _node(self, execution: ExecutionId, path: str, value: bytes | None) -> None:
        if value is None:
            self.nodes.get(execution, {}).pop(path, None)
        else:
            self.nodes.setdefault(execution, {})[path] = value


class Slices:
    """Raises LogFailed where Kafka can't be reached or refuses."""

    def __init__(self, clients: Clients, partitions: int) -> None:
        self._clients, self.partitions = clients, partitions

    async def states(self, partition: int, start: int = 0, *, nodes: bool = True) -> Slice:
        """Of everything from an offset of the state topic up to where it ends now."""
        found = Slice(partition, end=start)
        async for end, batch in self._read(Topic.STATE, partition, start):
            found.end = end
            for record in batch:
                found.take(record, nodes=nodes)
        return found

    async def edges(self, which: Topic, partition: int) -> tuple[int, int]:
        """The first offset that is still kept, and where it ends now."""
        place = TopicPartition(self._clients.options.topic(which), partition)
        try:
            async with self._clients.consumer() as consumer:
                first: int = (await consumer.beginning_offsets([place]))[place]
                end: int = (await consumer.end_offsets([place]))[place]
        except faults.CLIENT_ERRORS as error:
            raise LogFailed(f"{place} can't be read: {faults.describe(error)}") from error
        return first, end

    async def facts(self, partition: int) -> AsyncIterator[Sequence[Fact | Strange]]:
        """All that are kept, answers to requests (number 0) among them."""
        async for _, batch in self._read(Topic.HISTORY, partition):
            yield [_fact(record) for record in batch]

    async def submissions(self, partition: int, cursor: int) -> AsyncIterator[Sequence[tuple[ExecutionId, float]]]:
        """What was processed and is still kept, a batch at a time, with the time when it was written (seconds)."""
        async for _, batch in self._read(Topic.EVENTS, partition):
            found = [(self._submitted(record, partition), record) for record in batch if record.offset < cursor]
            yield [(execution, record.timestamp / 1000) for execution, record in found if execution is not None]

    async def waiting(self, partition: int, cursor: int) -> int:
        """Events that are there now and not processed."""
        return sum([len(batch) async for _, batch in self._read(Topic.EVENTS, partition, cursor)])

    async def letters(self, partition: int) -> AsyncIterator[Sequence[ExecutionId | None]]:
        """Whom each dead letter is about."""
        async for _, batch in self._read(Topic.DEAD_LETTERS, partition):
            yield [records.letter_in(record).execution for record in batch if not records.is_mark(record)]

    def owner(self, execution: ExecutionId) -> int:
        """Its partition."""
        return partition_of(execution, self.partitions)

    def _submitted(self, record: Found, partition: int) -> ExecutionId | None:
        """The execution that a record of the events asks for, where it is in the right partition."""
        headers = tuple((name, value or b"") for name, value in record.headers if name != records.APPENDED)
        event = codec.unpack_record(record.offset, record.value or b"", headers).event
        if isinstance(event, ExecutionSubmitted | ExecutionRequested) and self.owner(event.execution) == partition:
            return event.execution
        return None

    async def _read(self, which: Topic, number: int, start: int = 0) -> AsyncIterator[tuple[int, Sequence[Found]]]:
        place = TopicPartition(self._clients.options.topic(which), number)
        try:
            # What strangers write may have headers with odd names, and is read slowly for that.
            with forgiving() if which in (Topic.EVENTS, Topic.DEAD_LETTERS) else nullcontext():
                async for end, batch in read_to_end(self._clients, place, start):
                    yield end, batch
        except faults.CLIENT_ERRORS as error:
            raise LogFailed(f"{place} can't be read: {faults.describe(error)}") from error


def _execution(key: bytes, value: bytes) -> Execution:
    """Raises Unreadable."""
    found = codec.unpack_execution(value)
    if key_of(found.id) != key:
        raise codec.Unreadable(f"it is of {found.id}")
    return found


def _fact(record: Found) -> Fact | Strange:
    try:
        return records.fact_in(record)
    except codec.Unreadable as problem:
        return (record.key or b"").decode(errors="backslashreplace"), f"fact at offset {record.offset}: {problem}"
