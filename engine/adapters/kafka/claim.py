"""The claim of a partition: who owns it, up to where its events are processed, and which commit said so.

One record of the state topic, written in the transaction of every commit: the cursor is the engine's own, and a commit
without an answer can be looked up.
"""

from __future__ import annotations

import logging

import msgspec
from aiokafka import TopicPartition

from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.keys import CLAIM
from engine.adapters.kafka.message import Message
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.reading import Found, read_to_end

log = logging.getLogger(__name__)


class Claim(msgspec.Struct, frozen=True, omit_defaults=True):
    owner: str = ""
    """Different for each time that a partition is taken over."""
    cursor: int = 0
    """Offset of the next event to process."""
    turn: int = 0
    """Counts the commits of this owner."""
    group: str = ""
    """The consumer group of the owner; empty = older engines did not say."""
    store: str = ""
    """URI of the owner's store; empty = it is not told."""

    def message(self, partition: int) -> Message:
        return Message(Topic.STATE, partition, CLAIM, msgspec.msgpack.encode(self))


def claim_in(record: Found) -> Claim | None:
    """The claim that a record of the state topic is, or None. One that can't be read is no engine's, and told."""
    if record.key != CLAIM:
        return None
    try:
        return msgspec.msgpack.decode(record.value or b"", type=Claim)
    except msgspec.MsgspecError as error:
        where = {"topic": record.topic, "partition": record.partition, "offset": record.offset}
        log.error("a claim can't be read; the one before it counts", extra={**where, "cause": str(error)})
        return None


async def last_claim(clients: Clients, partition: TopicPartition, start: int, at_least: int = 0) -> Claim | None:
    """The newest claim at or behind an offset of the state topic. Raises what aiokafka raises.

    `at_least`: how far the topic is known to go.
    """
    found = None
    async for _, records in read_to_end(clients, partition, start, at_least):
        for record in records:
            found = claim_in(record) or found
    return found
