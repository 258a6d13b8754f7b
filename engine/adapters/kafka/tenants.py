"""Whose topics these are: engines of one group and one store. Others would work on the same executions, unseen.

Nothing in Kafka fences one group off from another, so each claim says whose it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import anyio
from aiokafka import AIOKafkaConsumer, TopicPartition

from engine.adapters.kafka.claim import Claim, claim_in
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.options import KafkaOptions, Topic
from engine.adapters.kafka.patience import persist
from engine.adapters.kafka.reading import SHORT_POLL_MS, read_to_end
from engine.model.errors import BadInput

TAIL_RECORDS = 64
"""Looked at in each partition before joining: every commit ends with a claim. Taking over looks at all of them."""


async def check(clients: Clients) -> None:
    """Before joining the group. Raises BadInput where the topics belong to others, LogFailed."""
    for where, claim in (await persist("reading of claims", partial(_newest, clients))).items():
        refuse_others(claim, where, clients.options)


async def refuse_earlier(clients: Clients, partition: int, start: int) -> None:
    """After the first claim of all: of two groups that begin at once, the one that was quicker stays.

    `start`: before our own claim. Raises BadInput, LogFailed.
    """
    where = TopicPartition(clients.options.topic(Topic.STATE), partition)
    for claim in await persist(f"reading of claims of partition {partition}", partial(_since, clients, where, start)):
        if claim.group == clients.options.group:
            return
        refuse_others(claim, where, clients.options)


def refuse_others(claim: Claim, where: TopicPartition, options: KafkaOptions) -> None:
    """Raises BadInput with everything that tells the owner apart from us."""
    if problems := list(_problems(claim, options)):
        raise BadInput(f"{where.topic}, partition {where.partition}: {'; '.join(problems)}; nothing of it was changed")


def _problems(claim: Claim, options: KafkaOptions) -> Iterator[str]:
    if claim.group and claim.group not in (options.group, options.takes_over):
        yield (
            f"the topics belong to the consumer group {claim.group!r}, and kafka.group here is {options.group!r}: both "
            f"would work on the same executions. Set kafka.group={claim.group} to join it, or another kafka.prefix for "
            f"topics of its own. To rename the group, stop all its processes first, and set "
            f"kafka.takes_over={claim.group}"
        )
    if claim.store and options.store and claim.store.rstrip("/") != options.store.rstrip("/"):
        yield (
            f"the engines of these topics keep their values in {claim.store}, and store.uri here is {options.store}: "
            f"neither would find the other's. Set store.uri={claim.store}, or another kafka.prefix for topics of its "
            "own"
        )


async def _newest(clients: Clients) -> dict[TopicPartition, Claim]:
    """The newest claim of each partition, where it stands near the end."""
    options, found = clients.options, dict[TopicPartition, Claim]()
    places = [TopicPartition(options.topic(Topic.STATE), number) for number in range(options.partitions)]
    async with clients.consumer() as consumer:
        consumer.assign(places)
        begins, ends = await consumer.beginning_offsets(places), await consumer.end_offsets(places)
        for where in places:
            consumer.seek(where, max(begins[where], ends[where] - TAIL_RECORDS))
        # Whoever writes right now holds up the end of a partition for a moment.
        with anyio.move_on_after(options.request_seconds):
            while not await _is_read(consumer, ends):
                for where, batch in (await consumer.getmany(timeout_ms=SHORT_POLL_MS)).items():
                    for record in batch:
                        found[where] = claim_in(record) or found.get(where, Claim())
    return found


async def _is_read(consumer: AIOKafkaConsumer, ends: dict[TopicPartition, int]) -> bool:
    for where, end in ends.items():
        if await consumer.position(where) < end:
            return False
    return True


async def _since(clients: Clients, where: TopicPartition, start: int) -> list[Claim]:
    read = read_to_end(clients, where, start, start + 1)
    return [claim async for _, found in read for record in found if (claim := claim_in(record)) is not None]
