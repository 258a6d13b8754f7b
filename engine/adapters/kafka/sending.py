"""Records on their way to Kafka, in batches that are built here: one future a batch, and not one a record."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.producer.message_accumulator import BatchBuilder
from aiokafka.structs import RecordMetadata

from engine.adapters.kafka.message import Message
from engine.adapters.kafka.options import KafkaOptions, Topic

Groups = Mapping[TopicPartition, Sequence[Message]]
"""By where they go, in their order."""


def grouped(messages: Iterable[Message], options: KafkaOptions) -> Groups:
    found: defaultdict[tuple[Topic, int], list[Message]] = defaultdict(list)
    for message in messages:
        found[message.topic, message.partition].append(message)
    return {TopicPartition(options.topic(topic), number): group for (topic, number), group in found.items()}


async def transact(producer: AIOKafkaProducer, groups: Groups) -> dict[TopicPartition, int]:
    """One transaction; the offset behind what was written, for each partition.

    Whatever it raises, the producer is spent.
    """
    await producer.begin_transaction()
    written = await deliver(producer, groups)
    await producer.commit_transaction()
    return written


async def deliver(producer: AIOKafkaProducer, groups: Groups) -> dict[TopicPartition, int]:
    """Send, and wait until all of it is acknowledged: a commit succeeds even where records have failed."""
    sent: list[tuple[TopicPartition, int]] = []
    futures: list[asyncio.Future[RecordMetadata]] = []
    for partition, messages in groups.items():
        for batch in _batches(producer, messages):
            future = await producer.send_batch(batch, partition.topic, partition=partition.partition)
            future.add_done_callback(_look)
            futures.append(future)
            sent.append((partition, batch.record_count()))
    written = await asyncio.gather(*futures)
    return {partition: found.offset + count for (partition, count), found in zip(sent, written, strict=True)}


def _batches(producer: AIOKafkaProducer, messages: Iterable[Message]) -> Iterator[BatchBuilder]:
    batch = producer.create_batch()
    for message in messages:
        if not _fits(batch, message):
            batch.close()
            yield batch
            batch = producer.create_batch()
            fits = _fits(batch, message)
            assert fits, "an empty batch takes any record"
    batch.close()
    yield batch


def _fits(batch: BatchBuilder, message: Message) -> bool:
    added = batch.append(timestamp=None, key=message.key, value=message.value, headers=[*message.headers])
    return added is not None


def _look(future: asyncio.Future[RecordMetadata]) -> None:
    """So that asyncio does not report as forgotten what another failure has overtaken."""
    if not future.cancelled():
        future.exception()
