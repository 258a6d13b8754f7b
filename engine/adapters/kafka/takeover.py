"""What the owner before has left: the states of a partition, and its claim with the cursor."""

from __future__ import annotations

from functools import partial

from aiokafka import TopicPartition
from msgspec import Struct

from engine.adapters.kafka.claim import Claim, claim_in
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.patience import persist
from engine.adapters.kafka.reading import read_to_end
from engine.adapters.kafka.states import States


class Taken(Struct, frozen=True):
    states: States
    claim: Claim
    end: int
    """Of the state topic."""


async def take_over(clients: Clients, partition: int) -> Taken:
    """Read it all; nobody may write it any more. Waits while Kafka is in trouble. Raises LogFailed."""
    return await persist(f"taking over partition {partition}", partial(_read, clients, partition))


async def _read(clients: Clients, partition: int) -> Taken:
    options = clients.options
    states, claim, end = States(partition, options.keep_finished_seconds), Claim(), 0
    where = TopicPartition(options.topic(Topic.STATE), partition)
    async for behind, found in read_to_end(clients, where):
        end = behind
        for record in found:
            if (other := claim_in(record)) is not None:
                claim = other
            else:
                states.feed(record)
    states.ready()
    return Taken(states, claim, end)
