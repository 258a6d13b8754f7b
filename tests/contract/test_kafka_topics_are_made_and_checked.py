from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from engine.adapters.kafka import topics
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.options import KafkaOptions, Topic
from engine.model.errors import BadInput, LogFailed
from tests.contract.kafka_world import fresh_options

pytestmark = pytest.mark.service("kafka")


@asynccontextmanager
async def admin_of(options: KafkaOptions) -> AsyncIterator[AIOKafkaAdminClient]:
    admin = AIOKafkaAdminClient(bootstrap_servers=options.bootstrap)
    await admin.start()
    try:
        yield admin
    finally:
        await admin.close()


async def configs(admin: AIOKafkaAdminClient, topic: str) -> dict[str, str]:
    (response,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
    found: Any = response
    return {entry[0]: entry[1] for entry in found.resources[0][4]}


async def test_they_are_made_as_the_options_say() -> None:
    options = fresh_options(partitions=3, events_seconds=3600.0, history_seconds=7200.0, max_record_bytes=5_000_000)
    await topics.prepare(Clients(options, {}))
    async with admin_of(options) as admin:
        described = await admin.describe_topics([options.topic(which) for which in Topic])
        assert {topic["topic"]: len(topic["partitions"]) for topic in described} == {
            f"{options.prefix}.{name}": 3 for name in ("events", "state", "history", "dead-letters")
        }
        state = await configs(admin, options.topic(Topic.STATE))
        assert (state["cleanup.policy"], state["min.insync.replicas"]) == ("compact", "1")
        assert int(state["max.message.bytes"]) > 5_000_000
        for which, milliseconds in ((Topic.EVENTS, 3_600_000), (Topic.HISTORY, 7_200_000)):
            found = await configs(admin, options.topic(which))
            assert (found["cleanup.policy"], found["retention.ms"]) == ("delete", str(milliseconds))


async def test_engines_that_start_at_once_do_not_hinder_each_other() -> None:
    options = fresh_options(partitions=2)
    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(topics.prepare, Clients(options, {}))


async def test_everything_that_is_wrong_is_told_at_once() -> None:
    options = fresh_options(partitions=3)
    async with admin_of(options) as admin:
        await admin.create_topics(
            [
                NewTopic(options.topic(Topic.STATE), 3, 1, topic_configs={"cleanup.policy": "delete"}),
                NewTopic(options.topic(Topic.EVENTS), 5, 1, topic_configs={"cleanup.policy": "compact"}),
                NewTopic(options.topic(Topic.HISTORY), 3, 1, topic_configs={"max.message.bytes": "1000"}),
            ]
        )
    with pytest.raises(BadInput) as caught:
        await topics.prepare(Clients(options, {}))
    text = str(caught.value)
    events, state, history = (options.topic(which) for which in (Topic.EVENTS, Topic.STATE, Topic.HISTORY))
    assert f"topic {events} has 5 partitions, the settings say 3" in text
    assert f"topic {events} has cleanup.policy=compact, expected delete" in text
    assert f"topic {state} has cleanup.policy=delete, expected compact" in text
    assert f"topic {history} has max.message.bytes=1000, expected at least {options.max_record_bytes}" in text


async def test_copies_that_must_be_in_sync_are_checked() -> None:
    options = fresh_options()
    await topics.prepare(Clients(options, {}))
    with pytest.raises(BadInput, match=r"has min.insync.replicas=1 and 1 copies, expected at least 2"):
        await topics.prepare(Clients(replace(options, min_insync=2), {}))


async def test_more_copies_than_brokers_can_not_be_made() -> None:
    with pytest.raises(BadInput, match="can't be made with 1 partitions and 3 copies on 1 brokers: InvalidReplication"):
        await topics.prepare(Clients(fresh_options(replication=3), {}))


async def test_nobody_at_the_address() -> None:
    options = replace(fresh_options(), bootstrap="127.0.0.1:9")
    with (
        anyio.fail_after(20),
        pytest.raises(LogFailed, match=r"Kafka at 127.0.0.1:9 can't be reached .*nothing was start"),
    ):
        await topics.prepare(Clients(options, {}))
