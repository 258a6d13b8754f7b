"""The topics for somebody who is no engine: publishes events, and reads what is told of an execution."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import anyio
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from engine.adapters.kafka import faults, topics
from engine.adapters.kafka.clients import Clients, discard
from engine.adapters.kafka.keys import key_of, partition_of
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.patience import Patience, persist
from engine.adapters.kafka.reading import POLL_MS, SHORT_POLL_MS, Found, seek
from engine.model.ids import ExecutionId
from engine.ports.eventlog import Headers

Position = Mapping[Topic, int]
"""Offsets in the partitions of one execution."""


class Visitor:
    """Use `open`. Waits while Kafka is in trouble; raises LogFailed where it refuses for good."""

    def __init__(self, clients: Clients, consumer: AIOKafkaConsumer, partitions: int) -> None:
        self._clients, self._consumer, self._partitions = clients, consumer, partitions
        self._producer: AIOKafkaProducer | None = None
        self._producing, self._one_at_a_time = anyio.Lock(), anyio.Lock()

    @classmethod
    @asynccontextmanager
    async def open(cls, clients: Clients) -> AsyncIterator[Visitor]:
        """Raises BadInput where the topics are not there, LogFailed where Kafka can't be reached."""
        count = await topics.count(clients)
        async with AsyncExitStack() as stack:
            visitor = cls(clients, await stack.enter_async_context(clients.consumer()), count)
            stack.push_async_callback(visitor._renounce)
            yield visitor

    async def publish(self, execution: ExecutionId, value: bytes, headers: Headers = ()) -> None:
        """Returns when it is durable. It may be written twice where Kafka is in trouble, which changes nothing."""
        topic, key = self._clients.options.topic(Topic.EVENTS), key_of(execution)
        partition, patience = partition_of(execution, self._partitions), Patience(f"an event for {execution}")
        while True:
            producer: AIOKafkaProducer | None = None
            try:
                producer = await self._started()
                await producer.send_and_wait(topic, value, key, partition, headers=list(headers))
                patience.over()
                return
            except faults.CLIENT_ERRORS as error:
                if producer is self._producer:
                    await self._renounce()
                await patience.wait(error)

    async def _started(self) -> AIOKafkaProducer:
        async with self._producing:
            if self._producer is None:
                self._producer = await self._clients.start_producer()
            return self._producer

    async def _renounce(self) -> None:
        if self._producer is not None:
            producer, self._producer = self._producer, None
            await discard(producer)

    async def ends(self, execution: ExecutionId, *which: Topic) -> Position:
        """Where the partitions of an execution end now: what is told later lies behind."""
        places = {one: self._place(execution, one) for one in which}
        async with self._one_at_a_time:
            ask = partial(self._consumer.end_offsets, list(places.values()))
            found = await persist(f"reading of {execution}", ask)
        return {one: found[place] for one, place in places.items()}

    async def follow(
        self, execution: ExecutionId, which: Topic, position: int
    ) -> AsyncGenerator[Sequence[Found], None]:
        """What is told of one execution from an offset on, as it comes, for ever; at times nothing.

        One consumer for each that is followed.
        """
        place, patience = self._place(execution, which), Patience(f"reading of {execution}")
        while True:
            try:
                async with self._clients.consumer() as consumer:
                    position = max(position, await seek(consumer, place, position))
                    while True:
                        found = await consumer.getmany(place, timeout_ms=POLL_MS)
                        position = await consumer.position(place)
                        patience.over()
                        yield _about(execution, found.get(place, ()))
            except faults.CLIENT_ERRORS as error:
                await patience.wait(error)

    async def look(self, execution: ExecutionId, which: Topic, position: int) -> tuple[Sequence[Found], int]:
        """What is told of one execution from an offset up to now, and the offset behind that."""
        return await persist(f"reading of {execution}", partial(self._look, execution, which, position))

    async def first_after(self, execution: ExecutionId, which: Topic, seconds: float) -> int:
        """The offset of the first record of its partition that was written at that time (since the epoch) or later."""
        return await persist(f"reading of {execution}", partial(self._first_after, execution, which, seconds))

    async def _look(self, execution: ExecutionId, which: Topic, position: int) -> tuple[Sequence[Found], int]:
        place, told = self._place(execution, which), list[Found]()
        async with self._one_at_a_time:
            consumer = self._consumer
            position = max(position, await seek(consumer, place, position))
            end = (await consumer.end_offsets([place]))[place]
            while position < end:
                found = await consumer.getmany(place, timeout_ms=SHORT_POLL_MS)
                position = await consumer.position(place)
                told += _about(execution, found.get(place, ()))
        return told, position

    async def _first_after(self, execution: ExecutionId, which: Topic, seconds: float) -> int:
        place = self._place(execution, which)
        async with self._one_at_a_time:
            found = (await self._consumer.offsets_for_times({place: max(int(seconds * 1000), 0)}))[place]
            ends: Mapping[TopicPartition, int] = await self._consumer.end_offsets([place])
        return ends[place] if found is None else int(found.offset)

    def _place(self, execution: ExecutionId, which: Topic) -> TopicPartition:
        return TopicPartition(self._clients.options.topic(which), partition_of(execution, self._partitions))


def _about(execution: ExecutionId, found: Iterable[Found]) -> list[Found]:
    """What tells of an execution or of one of its nodes."""
    key = key_of(execution)
    return [record for record in found if record.key == key or (record.key or b"").startswith(key + b"|")]
