"""The claim of a partition: who owns it, up to where its events are processed, and which commit said so.

One record of the state topic, written in the transaction of every commit: the cursor is the engine's own, and a commit
without an answer can be looked up.
"""

from __future__ import annotations

import msgspec
from aiokafka import TopicPartition

from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.keys import CLAIM
from engine.adapters.kafka.message import Message
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.reading import Found, read_to_end
from engine.model.errors import LogFailed


class Claim(msgspec.Struct, frozen=True, omit_defaults=True):
    owner: str = ""
    """Different for each time that a partition is taken over."""
    cursor: int = 0
    """Offset of the next event to process."""
    turn: int = 0
    """Counts the commits of this owner."""

    def message(self, partition: int) -> Message:
        return Message(Topic.STATE, partition, CLAIM, msgspec.msgpack.encode(self))


def claim_in(record: Found) -> Claim | None:
    """The claim that a record of the state topic is, or None. Raises LogFailed."""
    if record.key != CLAIM or record.value is None:
        return None
    try:
        return msgspec.msgpack.decode(record.value, type=Claim)
    except msgspec.MsgspecError as error:
        raise LogFailed(
            f"the claim of {record.topic} {record.partition} at offset {record.offset} can't be read: {error}"
        ) from error


async def last_claim(clients: Clients, partition: TopicPartition, start: int) -> Claim | None:
    """The newest claim at or behind an offset of the state topic. Raises what aiokafka raises, LogFailed."""
    found = None
    async for _, records in read_to_end(clients, partition, start):
        for record in records:
            found = claim_in(record) or found
    return found
