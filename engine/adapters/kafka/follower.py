"""Reads all partitions of states and history, whoever owns them, into a projection: one reader for a process."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from aiokafka import AIOKafkaConsumer, TopicPartition
from anyio import TASK_STATUS_IGNORED
from anyio.abc import TaskStatus

from engine.adapters.kafka import faults, records
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.keys import BARRIER, CLAIM, execution_of, split_key
from engine.adapters.kafka.options import KafkaOptions, Topic
from engine.adapters.kafka.patience import Patience
from engine.adapters.kafka.reading import POLL_MS, SHORT_POLL_MS, Found
from engine.ports.projection import Projection, Update
from engine.wire import codec

MOST_RECORDS = 2000
"""Of one update: bounds its memory, and how long a question waits for its transaction."""
FOLLOWED = (Topic.STATE, Topic.HISTORY)

log = logging.getLogger(__name__)


def source_of(options: KafkaOptions) -> str:
    """What a projection is made of: one of other topics is another one."""
    return f"{options.bootstrap}/{options.prefix}/{options.partitions}"


class Follower:
    def __init__(self, clients: Clients, projection: Projection) -> None:
        self._clients, self._projection = clients, projection
        self._caught_up = False

    async def run(self, *, task_status: TaskStatus[None] = TASK_STATUS_IGNORED) -> None:
        """For ever. Started when the projection holds all that was committed when it began; waits while Kafka is in
        trouble. Raises LogFailed."""
        patience = Patience("reading states and history")
        while True:
            try:
                async with self._clients.consumer() as consumer:
                    await self._follow(consumer, patience, task_status)
            except faults.CLIENT_ERRORS as error:
                await patience.wait(error)

    async def _follow(self, consumer: AIOKafkaConsumer, patience: Patience, task_status: TaskStatus[None]) -> None:
        ends = await self._seek(consumer)
        while True:
            found = await consumer.getmany(
                timeout_ms=POLL_MS if self._caught_up else SHORT_POLL_MS, max_records=MOST_RECORDS
            )
            patience.over()
            if found:
                await self._projection.absorb(update_of(found))
            if not self._caught_up and await _has_reached(consumer, ends):
                self._caught_up = True
                task_status.started()

    async def _seek(self, consumer: AIOKafkaConsumer) -> Mapping[TopicPartition, int]:
        """Read on from where the projection ends; where the partitions end now.

        Only at the beginning is a projection that is ahead thrown away: a broker that has just come back may tell of
        less than there is, for a moment, and nobody is to be shown an empty view for that.
        """
        options = self._clients.options
        all_of_them = [
            TopicPartition(options.topic(which), number) for which in FOLLOWED for number in range(options.partitions)
        ]
        consumer.assign(all_of_them)
        begins = await consumer.beginning_offsets(all_of_them)
        ends: Mapping[TopicPartition, int] = await consumer.end_offsets(all_of_them)
        held = self._projection.positions
        if not self._caught_up and any(held.get(_source(each), 0) > ends[each] for each in all_of_them):
            log.warning("the topics are younger than the projection of them, which is made anew")
            await self._projection.clear()
        for each in all_of_them:
            consumer.seek(each, max(self._projection.positions.get(_source(each), 0), begins[each]))
        return ends


def update_of(found: Mapping[TopicPartition, Sequence[Found]]) -> Update:
    """What a batch says; a record that can't be read is left out, and told."""
    update = Update()
    for partition, batch in found.items():
        history = partition.topic.endswith(f".{Topic.HISTORY.value}")
        for record in batch:
            try:
                (_enter_fact if history else _enter_state)(update, record)
            except codec.Unreadable as error:
                where = {"topic": partition.topic, "partition": partition.partition, "offset": record.offset}
                log.error("record can't be read, it is not shown", extra={**where, "cause": str(error)})
        update.positions[_source(partition)] = batch[-1].offset + 1
    return update


def _enter_fact(update: Update, record: Found) -> None:
    fact = records.fact_in(record)
    if fact.sequence:  # the others are answers to requests
        update.facts.append((fact, record.value or b""))


def _enter_state(update: Update, record: Found) -> None:
    if record.key is None or record.key in (CLAIM, BARRIER):
        return
    key, path = split_key(record.key)
    if path is not None:
        update.nodes[execution_of(key), path] = record.value
    elif record.value is None:
        update.executions.pop(execution_of(key), None)
        update.forgotten.add(execution_of(key))
    else:
        update.executions[execution_of(key)] = codec.unpack_execution(record.value), record.value


async def _has_reached(consumer: AIOKafkaConsumer, ends: Mapping[TopicPartition, int]) -> bool:
    for partition, end in ends.items():
        if await consumer.position(partition) < end:
            return False
    return True


def _source(partition: TopicPartition) -> str:
    return f"{partition.topic}/{partition.partition}"
