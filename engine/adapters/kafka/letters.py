"""Dead letters of all partitions: read, and appended to the events again, each once.

That a letter was replayed stands in the same topic: a record without a value that names it, written in the transaction
that appends the original record to the events.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from aiokafka import TopicPartition

from engine.adapters.kafka import faults, topics
from engine.adapters.kafka.clients import Clients, discard
from engine.adapters.kafka.keys import key_of, partition_of
from engine.adapters.kafka.message import Message
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.reading import Found, read_to_end
from engine.adapters.kafka.records import REPLAYED, is_mark, letter_in, number_in
from engine.adapters.kafka.sending import grouped, transact
from engine.model.errors import LogFailed
from engine.ports.letters import Letter
from engine.wire import codec

REPLAY = "replay"
"""Header of an event that was replayed: the letter that it comes from."""


class Letters:
    """Raises LogFailed where Kafka can't be reached."""

    def __init__(self, clients: Clients, partitions: int) -> None:
        self._clients, self._partitions = clients, partitions

    @classmethod
    async def open(cls, clients: Clients) -> Letters:
        """Raises BadInput where the topics are not there, too."""
        return cls(clients, await topics.count(clients))

    async def all(self) -> Sequence[Letter]:
        """By partition, the oldest first."""
        found: list[Letter] = []
        for partition in range(self._partitions):
            records = await self._read(partition)
            replayed = {
                (dict(record.headers).get(REPLAYED) or b"").decode(errors="replace")
                for record in records
                if is_mark(record)
            }
            for record in records:
                if not is_mark(record):
                    id = f"{partition}/{record.offset}"
                    was_in, at = number_in(record, "partition"), record.timestamp / 1000
                    found.append(Letter(id, letter_in(record), was_in, at, id in replayed))
        return found

    async def replay(self, letter: Letter) -> None:
        """Append the original record to the events again, and note that, as a whole or not at all."""
        partition, record = int(letter.id.partition("/")[0]), letter.letter
        event = codec.unpack_record(0, record.raw, record.headers).event
        key = key_of(event.execution) if event is not None else letter.id.encode()
        place = partition_of(event.execution, self._partitions) if event is not None else partition
        again = Message(Topic.EVENTS, place, key, record.raw, (*record.headers, (REPLAY, letter.id.encode())))
        mark = Message(Topic.DEAD_LETTERS, partition, key, None, ((REPLAYED, letter.id.encode()),))
        try:
            producer = await self._clients.start_producer(f"{self._clients.options.group}-replay-{uuid.uuid4().hex}")
            try:
                await transact(producer, grouped([again, mark], self._clients.options))
            finally:
                await discard(producer)
        except faults.CLIENT_ERRORS as error:
            raise LogFailed(f"dead letter {letter.id} may not have been replayed: {faults.describe(error)}") from error

    async def _read(self, partition: int) -> list[Found]:
        place = TopicPartition(self._clients.options.topic(Topic.DEAD_LETTERS), partition)
        try:
            return [record async for _, found in read_to_end(self._clients, place) for record in found]
        except faults.CLIENT_ERRORS as error:
            raise LogFailed(f"{place} can't be read: {faults.describe(error)}") from error
