"""User case S32: an engine that is slower than its submitters keeps few events in memory, and loses none of them."""

from __future__ import annotations

import anyio
import pytest
from aiokafka import AIOKafkaProducer
from anyio.lowlevel import checkpoint

from engine.adapters.kafka.inbox import MOST_QUEUED
from engine.adapters.kafka.options import Topic
from engine.model.events import AbortRequested
from engine.ports.eventlog import Changes
from engine.wire.codec import pack_event
from tests.backing.session import address
from tests.contract.kafka_world import kafka_world
from tests.contract.log_nouns import named

pytestmark = [pytest.mark.service("kafka"), pytest.mark.timeout(120)]
EVENTS = 8000
OF_A_FETCH = 1100
"""Events of a kilobyte that one answer of the broker holds, which is read as a whole."""


async def test_what_waits_in_memory_has_a_limit() -> None:
    with anyio.fail_after(90):
        async with kafka_world() as world:
            events = [AbortRequested(named("a"), f"{number}:{'x' * 1000}") for number in range(EVENTS)]
            async with AIOKafkaProducer(bootstrap_servers=address("kafka"), linger_ms=5) as producer:
                topic = world.clients.options.topic(Topic.EVENTS)
                sent = [await producer.send(topic, pack_event(event), b"k", 0) for event in events]
                for one in sent:
                    await one
            inbox, seen, most = world.log._inbox, list[object](), 0
            while len(seen) < EVENTS:
                while not inbox.is_empty and len(inbox._topic) < MOST_QUEUED and inbox.fetched < EVENTS:
                    await checkpoint()
                records = await world.log.read()
                most = max(most, len(inbox._topic) + len(inbox._head))
                seen += [record.event for record in records]
                await world.log.commit(records, Changes())
            assert seen == events
            assert MOST_QUEUED <= most <= MOST_QUEUED + OF_A_FETCH + 500
