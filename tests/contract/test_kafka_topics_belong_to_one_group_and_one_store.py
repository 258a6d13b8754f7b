"""A claim says whose it is: engines of another group, or with another store, refuse the topics and write nothing."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from aiokafka import AIOKafkaProducer, TopicPartition

from engine.adapters.kafka import tenants, topics
from engine.adapters.kafka.claim import Claim, claim_in, last_claim
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.keys import BARRIER, CLAIM
from engine.adapters.kafka.options import KafkaOptions, Topic
from engine.model.errors import BadInput
from engine.ports.eventlog import Changes
from tests.contract.kafka_world import KafkaWorld, fresh_options, kafka_world, partition_records
from tests.contract.log_nouns import execution, named

pytestmark = pytest.mark.service("kafka")
OURS, THEIRS = "s3://bucket/ours", "s3://bucket/theirs"


def other(world: KafkaWorld, **more: object) -> Clients:
    return Clients(replace(world.clients.options, **more), {})  # type: ignore[arg-type]


async def told(world: KafkaWorld) -> int:
    """Records that say something."""
    return sum(record.key != BARRIER for record in await world.records(Topic.STATE))


async def refused(world: KafkaWorld, clients: Clients) -> str:
    """What both say, at the start and when a partition is taken over; nothing of it was changed."""
    before = await told(world)
    with pytest.raises(BadInput) as early:
        await tenants.check(clients)
    with pytest.raises(BadInput) as late:
        await world.open(clients=clients)
    assert str(early.value) == str(late.value)
    assert await told(world) == before
    return str(late.value)


async def test_another_group_is_refused_by_name() -> None:
    async with kafka_world() as world:
        options = world.clients.options
        await world.log.commit((), Changes(executions=[execution("a")]))
        told = await refused(world, other(world, group="second"))
        assert told == (
            f"{options.topic(Topic.STATE)}, partition 0: the topics belong to the consumer group {options.group!r}, "
            "and kafka.group here is 'second': both would work on the same executions. "
            f"Set kafka.group={options.group} to join it, or another kafka.prefix for topics of its own. "
            "To rename the group, stop all its processes first, "
            f"and set kafka.takes_over={options.group}; nothing of it was changed"
        )
        await world.log.commit((), Changes(executions=[execution("b")]))


async def test_a_group_is_renamed_on_purpose() -> None:
    async with kafka_world() as world:
        old = world.clients.options.group
        await world.log.commit((), Changes(executions=[execution("a")]))
        await world.let_go()
        renamed = other(world, group="second", takes_over=old)
        await tenants.check(renamed)
        world.log = await world.open(clients=renamed)
        assert named("a") in await world.log.find([named("a")])
        await refused(world, world.clients)
        await tenants.check(other(world, group="second"))


async def test_another_store_is_refused_by_its_uri() -> None:
    async with kafka_world(store=OURS) as world:
        told = await refused(world, other(world, store=THEIRS))
        assert f"keep their values in {OURS}, and store.uri here is {THEIRS}" in told
        assert f"Set store.uri={OURS}, or another kafka.prefix" in told
        await tenants.check(other(world, store=f"{OURS}/"))
        await world.open(clients=other(world, store=f"{OURS}/"))


async def test_claims_of_older_engines_are_anybodys() -> None:
    async with kafka_world(store=OURS) as world:
        await world.let_go()
        old = msgspec.msgpack.encode({"owner": "before", "cursor": 5, "turn": 3})
        async with AIOKafkaProducer(**world.clients.common) as producer:
            await producer.send_and_wait(world.clients.options.topic(Topic.STATE), old, key=CLAIM, partition=0)
        await tenants.check(world.clients)
        world.log = await world.open()
        assert world.log.cursor == 5
        claim = await last_claim(world.clients, TopicPartition(world.clients.options.topic(Topic.STATE), 0), 0)
        assert claim == Claim(claim.owner if claim else "", 5, 1, world.clients.options.group, OURS)


async def test_of_two_groups_that_begin_at_once_the_quicker_one_stays() -> None:
    async with kafka_world() as world:
        group = world.clients.options.group
        found = await partition_records(world.clients, Topic.STATE, 0)
        first = next(record for record in found if claim_in(record) is not None)
        await tenants.refuse_earlier(world.clients, 0, first.offset)
        with pytest.raises(BadInput, match=f"belong to the consumer group '{group}', and kafka.group here is 'second'"):
            await tenants.refuse_earlier(other(world, group="second"), 0, first.offset)


async def test_topics_that_nobody_has_used_are_anybodys() -> None:
    options: KafkaOptions = fresh_options(partitions=3)
    await topics.prepare(Clients(options, {}))
    await tenants.check(Clients(options, {}))
