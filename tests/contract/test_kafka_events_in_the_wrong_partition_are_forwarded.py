from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from aiokafka import AIOKafkaProducer

from engine.adapters.kafka.keys import partition_of
from engine.adapters.kafka.options import Topic
from engine.model.events import AbortRequested
from engine.wire import codec
from tests.contract.kafka_world import KafkaWorld, kafka_world
from tests.contract.log_nouns import named, read, submitted, take

pytestmark = pytest.mark.service("kafka")


def name_in(partition: int, partitions: int, after: int = 0) -> str:
    """The name of an execution that belongs to a partition."""
    return next(f"e{n}" for n in range(after, 1000) if partition_of(named(f"e{n}"), partitions) == partition)


async def publish(
    world: KafkaWorld, *values: bytes, partition: int = 0, headers: Sequence[tuple[str, bytes]] = ()
) -> None:
    """As a submitter that chooses the partition by itself."""
    async with AIOKafkaProducer(**world.clients.common) as producer:
        for value in values:
            topic = world.clients.options.topic(Topic.EVENTS)
            await producer.send_and_wait(topic, value, partition=partition, headers=[*headers])


async def test_they_reach_their_owner_in_order_and_once() -> None:
    async with kafka_world(partitions=2) as world:
        other = await world.open(1)
        here, there, more = name_in(0, 2), name_in(1, 2), name_in(1, 2, 20)
        events = [submitted(name) for name in (there, here, more)]
        await publish(world, *(codec.pack_event(event) for event in events))
        assert await take(world.log) == [submitted(here)]
        await publish(world, codec.pack_event(submitted(there)))
        await world.log.append([submitted(here)], durable=True)
        assert await take(world.log) == [submitted(here)]
        seen = await take(other)
        while len(seen) < 3:
            seen += await take(other)
        assert seen == [submitted(there), submitted(more), submitted(there)]
        assert world.log.cursor == 5


async def test_their_headers_go_with_them() -> None:
    async with kafka_world(partitions=2) as world:
        other = await world.open(1)
        there = name_in(1, 2)
        abort = {"execution": {"project": "p", "domain": "d", "name": there}, "cause": "c"}
        event = json.dumps({"v": 1, "type": "execution.abort_requested", **abort}).encode()
        headers = (("content-type", b"application/json"), ("x", b"y"))
        await publish(world, event, headers=headers)
        await publish(world, codec.pack_event(submitted(name_in(0, 2))))
        await take(world.log)
        (record,) = await read(other, 1)
        assert (record.event, record.headers) == (AbortRequested(named(there), "c"), headers)


async def test_none_is_forwarded_twice_after_a_crash() -> None:
    async with kafka_world(partitions=2) as world:
        there = name_in(1, 2)
        await publish(world, codec.pack_event(submitted(there)))
        await world.log.append([submitted(name_in(0, 2))], durable=True)
        await take(world.log)
        await world.crash()
        await world.log.append([submitted(name_in(0, 2))], durable=True)
        await take(world.log)
        assert [codec.unpack_event(found.value or b"") for found in await world.records(Topic.EVENTS, 1)] == [
            submitted(there)
        ]


async def test_follow_ups_and_appends_go_to_the_partitions_of_their_executions() -> None:
    async with kafka_world(partitions=4) as world:
        names = [name_in(partition, 4) for partition in range(4)]
        await world.log.append([submitted(name) for name in names], durable=True)
        for partition, name in enumerate(names):
            found = await world.records(Topic.EVENTS, partition)
            assert [codec.unpack_event(each.value or b"") for each in found] == [submitted(name)]
            assert [each.key for each in found] == [f"p:d:{name}".encode()]
