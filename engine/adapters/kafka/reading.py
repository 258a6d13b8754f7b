"""Reading a partition from one offset to where it ends at this moment."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from engine.adapters.kafka.clients import Clients

POLL_MS = 1000
SHORT_POLL_MS = 10
"""Where the end of a partition is near: the marks of transactions move the position, but end no poll."""
Found = ConsumerRecord[bytes, bytes]


async def read_to_end(
    clients: Clients, partition: TopicPartition, start: int = 0, at_least: int = 0
) -> AsyncIterator[tuple[int, Sequence[Found]]]:
    """What is committed, a batch at a time, each with the offset behind it. At least one, which may be empty.

    `at_least`: where a commit that has taken place has ended; Kafka shows it a moment later.
    """
    async with clients.consumer() as consumer:
        first = await seek(consumer, partition, start)
        end = max((await consumer.end_offsets([partition]))[partition], at_least)
        position = max(first, start)
        yield position, ()
        while position < end:
            found = await consumer.getmany(partition, timeout_ms=SHORT_POLL_MS)
            position = await consumer.position(partition)
            yield position, found.get(partition, ())


async def seek(consumer: AIOKafkaConsumer, partition: TopicPartition, offset: int) -> int:
    """Make the consumer read one partition from an offset on, or from where it begins now. The offset it begins at."""
    consumer.assign([partition])
    first: int = (await consumer.beginning_offsets([partition]))[partition]
    consumer.seek(partition, max(first, offset))
    return first
