"""User case S33 (c): events that retention deletes before they are processed are told, not jumped over silently."""

from __future__ import annotations

import logging

import pytest
from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.records_to_delete import RecordsToDelete

from engine.adapters.kafka.options import Topic
from tests.contract.kafka_world import KafkaWorld, kafka_world
from tests.contract.log_nouns import submitted, take

pytestmark = pytest.mark.service("kafka")


async def delete_before(world: KafkaWorld, offset: int) -> None:
    events = TopicPartition(world.clients.options.topic(Topic.EVENTS), 0)
    admin = AIOKafkaAdminClient(**world.clients.common)
    await admin.start()
    try:
        await admin.delete_records({events: RecordsToDelete(before_offset=offset)})
    finally:
        await admin.close()


async def test_the_gap_is_named_and_the_rest_is_processed(caplog: pytest.LogCaptureFixture) -> None:
    async with kafka_world() as world:
        await world.log.append([submitted(f"e{number}") for number in range(10)], durable=True)
        await delete_before(world, 7)
        with caplog.at_level(logging.ERROR, "engine.adapters.kafka"):
            await world.crash()
        (record,) = [each for each in caplog.records if each.levelno == logging.ERROR and "deleted" in each.message]
        assert (vars(record)["from"], vars(record)["to"]) == (0, 6)
        seen = await take(world.log)
        while len(seen) < 3:
            seen += await take(world.log)
        assert seen == [submitted("e7"), submitted("e8"), submitted("e9")]
        assert world.log.cursor == 10
