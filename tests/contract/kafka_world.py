"""The event log on the broker of this run, on topics of its own."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from engine.adapters.kafka import topics
from engine.adapters.kafka.appender import Appender
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.inbox import MEMORY
from engine.adapters.kafka.log import KafkaLog
from engine.adapters.kafka.options import KafkaOptions, Topic
from engine.adapters.kafka.reading import Found, read_to_end
from engine.ports.eventlog import Record
from engine.wire import codec
from tests.backing.session import address
from tests.contract.kept import Kept


def fresh_options(**more: object) -> KafkaOptions:
    """Topics that nobody has used."""
    name = f"t{uuid.uuid4().hex[:12]}"
    options = KafkaOptions(address("kafka"), prefix=name, group=name, partitions=1, compression="none")
    return replace(options, **more)  # type: ignore[arg-type]


class KafkaWorld:
    """A crash is a second engine that takes the partition over, while the first one has no time to let go."""

    def __init__(self, clients: Clients, appender: Appender) -> None:
        self.clients, self.appender = clients, appender
        self._logs: list[Kept[KafkaLog]] = []
        self.log: KafkaLog

    async def open(self, partition: int = 0, clients: Clients | None = None) -> KafkaLog:
        """A log that is open until the world ends, or `let_go`."""
        kept = Kept(KafkaLog.open(clients or self.clients, partition, self.appender))
        self._logs.append(kept)
        return await kept.value()

    async def crash(self) -> None:
        self.log = await self.open()

    async def let_go(self) -> None:
        while self._logs:
            await self._logs.pop().close()

    async def fill_disk(self) -> None:
        """As near as a broker comes to it: it refuses records of more than a few pages."""
        options = self.clients.options
        admin = AIOKafkaAdminClient(**self.clients.common)
        await admin.start()
        try:
            await admin.alter_configs(
                [
                    ConfigResource(ConfigResourceType.TOPIC, options.topic(which), {"max.message.bytes": "20000"})
                    for which in Topic
                ]
            )
        finally:
            await admin.close()

    async def stored(self) -> list[Record]:
        found = await self.records(Topic.EVENTS)
        return [codec.unpack_record((each.offset + 1) * MEMORY, each.value or b"") for each in found]

    async def records(self, which: Topic, partition: int = 0) -> list[Found]:
        """All that is committed in a partition of a topic."""
        where = TopicPartition(self.clients.options.topic(which), partition)
        return await partition_records(self.clients, which, partition, self.log._transactions.written.get(where, 0))


async def partition_records(clients: Clients, which: Topic, partition: int, at_least: int = 0) -> list[Found]:
    where = TopicPartition(clients.options.topic(which), partition)
    return [each async for _, found in read_to_end(clients, where, at_least=at_least) for each in found]


@asynccontextmanager
async def kafka_world(**more: object) -> AsyncIterator[KafkaWorld]:
    """The log of partition 0; `more` over the options that fit the broker of the tests."""
    clients = Clients(fresh_options(**more), {})
    await topics.prepare(clients)
    appender = Kept(Appender.open(clients))
    world = KafkaWorld(clients, await appender.value())
    try:
        world.log = await world.open()
        yield world
    finally:
        await world.let_go()
        await appender.close()
