"""The topics: made where they are missing, and checked before anything is read or written."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
from aiokafka import errors
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from engine.adapters.kafka import faults
from engine.adapters.kafka.clients import STOP_SECONDS, Clients
from engine.adapters.kafka.options import KafkaOptions, Topic
from engine.model.errors import BadInput

DEFAULT_REPLICATION = 3
OVERHEAD = 64 * 1024
"""Bytes that a batch of one record may take beside it."""
VISIBLE_SECONDS = 15.0
"""How long topics that were just made may take until every broker tells of them."""
_EXISTS = errors.TopicAlreadyExistsError.errno


async def prepare(clients: Clients) -> None:
    """Raises BadInput with everything that is not as it should be, LogFailed where Kafka can't be reached."""
    options = clients.options
    try:
        async with administrator(clients) as admin:
            found = await _shapes(admin)
            missing = [which for which in Topic if options.topic(which) not in found]
            if missing:
                await _create(admin, options, missing)
                found = await _visible(admin, options)
            configs = await _configs(admin, options)
    except faults.CLIENT_ERRORS as error:
        raise faults.unusable(options.bootstrap, error, "nothing was started") from error
    problems = _problems(options, found, configs)
    if problems:
        listed = "".join(f"\n  - {problem}" for problem in problems)
        raise BadInput(f"the topics of Kafka at {options.bootstrap} can't be used; nothing was started:{listed}")


async def count(clients: Clients) -> int:
    """Partitions of each topic, for whoever is no engine. Raises BadInput where they are not there, LogFailed."""
    options = clients.options
    try:
        async with administrator(clients) as admin:
            found = await _shapes(admin)
    except faults.CLIENT_ERRORS as error:
        raise faults.unusable(options.bootstrap, error, "nothing was submitted or changed") from error
    counts = {name: found[name].partitions if name in found else 0 for name in map(options.topic, Topic)}
    if min(counts.values()) == 0 or len(set(counts.values())) > 1:
        listed = ", ".join(f"{name}: {partitions}" for name, partitions in counts.items())
        raise BadInput(
            f"Kafka at {options.bootstrap} has no topics of engines that begin with {options.prefix!r} (partitions of "
            f"{listed}); check kafka.bootstrap and kafka.prefix, or start an engine; nothing was published"
        )
    return max(counts.values())


@asynccontextmanager
async def administrator(clients: Clients) -> Any:
    admin = AIOKafkaAdminClient(**clients.common)
    try:
        await admin.start()
        yield admin
    finally:
        with anyio.move_on_after(STOP_SECONDS, shield=True):
            await admin.close()


@dataclass(frozen=True, slots=True)
class Shape:
    partitions: int
    copies: int
    """Of the partition that has the fewest."""


async def _shapes(admin: AIOKafkaAdminClient) -> dict[str, Shape]:
    """By topic."""
    return {
        topic["topic"]: Shape(len(topic["partitions"]), min(len(one["replicas"]) for one in topic["partitions"]))
        for topic in await admin.describe_topics()
        if not topic["error_code"] and topic["partitions"]
    }


async def _create(admin: AIOKafkaAdminClient, options: KafkaOptions, missing: list[Topic]) -> None:
    brokers = len((await admin.describe_cluster())["brokers"])
    replication = options.replication or min(DEFAULT_REPLICATION, brokers)
    wanted = [
        NewTopic(
            options.topic(which), options.partitions, replication, topic_configs=_wanted(options, which, replication)
        )
        for which in missing
    ]
    response: Any = await admin.create_topics(wanted)
    for topic, code, *message in response.topic_errors:
        # Another engine may have been quicker.
        if code not in (0, _EXISTS):
            reason = errors.for_code(code).__name__
            raise BadInput(
                f"topic {topic} can't be made with {options.partitions} partitions and {replication} copies on "
                f"{brokers} brokers: {reason} {' '.join(map(str, message))}; nothing was started"
            )


async def _visible(admin: AIOKafkaAdminClient, options: KafkaOptions) -> dict[str, Shape]:
    with anyio.fail_after(VISIBLE_SECONDS):
        while True:
            found = await _shapes(admin)
            if all(options.topic(which) in found for which in Topic):
                return found
            # No event tells when the brokers have heard of it.
            await anyio.sleep(0.05)


def _wanted(options: KafkaOptions, which: Topic, replication: int) -> dict[str, str]:
    configs = {
        "max.message.bytes": str(options.max_record_bytes + OVERHEAD),
        "min.insync.replicas": str(_in_sync(options, replication)),
    }
    if which is Topic.STATE:
        return configs | {
            "cleanup.policy": "compact",
            "min.cleanable.dirty.ratio": "0.2",
            "segment.ms": str(6 * 3600 * 1000),
        }
    seconds = options.events_seconds if which is Topic.EVENTS else options.history_seconds
    return configs | {"cleanup.policy": "delete", "retention.ms": str(math.ceil(seconds * 1000))}


async def _configs(admin: AIOKafkaAdminClient, options: KafkaOptions) -> dict[str, dict[str, str]]:
    """Topic -> its configuration."""
    resources = [ConfigResource(ConfigResourceType.TOPIC, options.topic(which)) for which in Topic]
    found: dict[str, dict[str, str]] = {}
    responses: list[Any] = await admin.describe_configs(resources)
    for response in responses:
        for _code, _message, _kind, name, entries in response.resources:
            found[name] = {entry[0]: entry[1] for entry in entries}
    return found


def _in_sync(options: KafkaOptions, copies: int) -> int:
    return options.min_insync or (2 if copies >= DEFAULT_REPLICATION else 1)


def _problems(options: KafkaOptions, found: Mapping[str, Shape], configs: Mapping[str, Mapping[str, str]]) -> list[str]:
    return [
        f"topic {options.topic(which)} {problem}"
        for which in Topic
        for problem in _problems_of(options, which, found[options.topic(which)], configs.get(options.topic(which), {}))
    ]


def _problems_of(options: KafkaOptions, which: Topic, shape: Shape, config: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with one topic. A value that the broker does not tell is taken to be right."""
    if shape.partitions != options.partitions:
        yield (
            f"has {shape.partitions} partitions, the settings say {options.partitions}; executions belong to "
            "partitions by their number, so it can't change while there are any"
        )
    policy = "compact" if which is Topic.STATE else "delete"
    if config.get("cleanup.policy", policy) != policy:
        yield f"has cleanup.policy={config['cleanup.policy']}, expected {policy}"
    if int(config.get("max.message.bytes", options.max_record_bytes)) < options.max_record_bytes:
        yield f"has max.message.bytes={config['max.message.bytes']}, expected at least {options.max_record_bytes}"
    least = _in_sync(options, shape.copies)
    if not least <= int(config.get("min.insync.replicas", least)) <= shape.copies:
        yield (
            f"has min.insync.replicas={config['min.insync.replicas']} and {shape.copies} copies, expected at least "
            f"{least} and no more than there are copies"
        )
