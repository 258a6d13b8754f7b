"""What only the topics hold: facts, dead letters, the nodes of executions that have ended; found by reading them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

from aiokafka import TopicPartition

from engine.adapters.kafka import faults, records
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.keys import key_of, partition_of, split_key
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.reading import Found, read_to_end
from engine.model.errors import LogFailed
from engine.model.ids import ExecutionId
from engine.model.state import Fact, Snapshot
from engine.ports.eventlog import DeadLetter
from engine.wire import codec


class Archive:
    """Each question reads a whole partition: for people and for rare needs, not for turns. Raises LogFailed."""

    def __init__(self, clients: Clients, written: Mapping[TopicPartition, int]) -> None:
        """`written`: where our own last commits have ended."""
        self._clients, self._written = clients, written

    async def history(self, execution: ExecutionId, after: int = 0) -> Sequence[Fact]:
        key, found = key_of(execution), dict[int, Fact]()
        async for record in self._read(Topic.HISTORY, self._partition_of(execution)):
            if record.key == key and (fact := records.fact_in(record)).sequence > after:
                found[fact.sequence] = fact
        return [found[number] for number in sorted(found)]

    async def snapshot(self, execution: ExecutionId) -> Snapshot | None:
        """As it is in the topic: also of one that has ended, or that another engine works on."""
        key, raw, nodes = key_of(execution), b"", dict[str, bytes]()
        async for found in self._read(Topic.STATE, self._partition_of(execution)):
            if (found.key or b"").partition(b"|")[0] != key:
                continue
            path = split_key(found.key or b"")[1]
            if path is None:
                raw = found.value or b""
            else:
                nodes[path] = found.value or b""
        if not raw:
            return None
        kept = sorted((path, value) for path, value in nodes.items() if value)
        return Snapshot(codec.unpack_execution(raw), tuple(codec.unpack_node(value) for _, value in kept))

    async def dead_letters(self, partition: int) -> Sequence[DeadLetter]:
        found = [record async for record in self._read(Topic.DEAD_LETTERS, partition)]
        return [records.letter_in(record) for record in found if not records.is_mark(record)]

    def _partition_of(self, execution: ExecutionId) -> int:
        return partition_of(execution, self._clients.options.partitions)

    async def _read(self, which: Topic, number: int) -> AsyncIterator[Found]:
        partition = TopicPartition(self._clients.options.topic(which), number)
        try:
            async for _, found in read_to_end(self._clients, partition, at_least=self._written.get(partition, 0)):
                for record in found:
                    yield record
        except faults.CLIENT_ERRORS as error:
            raise LogFailed(f"{partition} can't be read: {faults.describe(error)}") from error
