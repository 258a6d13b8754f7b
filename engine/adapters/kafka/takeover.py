"""What the owner before has left: the states of a partition, and its claim with the cursor."""

from __future__ import annotations

from functools import partial

from aiokafka import TopicPartition
from msgspec import Struct

from engine.adapters.kafka.claim import Claim, claim_in
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.keys import BARRIER, CLAIM
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.patience import persist
from engine.adapters.kafka.reading import read_to_end
from engine.adapters.kafka.states import States
from engine.adapters.kafka.tenants import refuse_others
from engine.model.errors import LogFailed


class Taken(Struct, frozen=True):
    states: States
    claim: Claim
    end: int
    """Of the state topic."""


async def take_over(clients: Clients, partition: int, at_least: int) -> Taken:
    """Read it all, at least up to an offset of the state topic; nobody may write it any more.

    Waits while Kafka is in trouble. Raises LogFailed, and BadInput where the partition belongs to engines that this one
    does not work with.
    """
    return await persist(f"taking over partition {partition}", partial(_read, clients, partition, at_least))


async def _read(clients: Clients, partition: int, at_least: int) -> Taken:
    options = clients.options
    states, claim, claims, end = States(options, partition), Claim(), 0, 0
    where = TopicPartition(options.topic(Topic.STATE), partition)
    async for behind, found in read_to_end(clients, where, at_least=at_least):
        end = behind
        for record in found:
            if record.key == CLAIM:
                claim, claims = claim_in(record) or claim, claims + 1
            elif record.key != BARRIER:
                states.feed(record)
    if claims and claim == Claim():
        raise LogFailed(
            f"{where} has no claim that can be read, so nobody knows up to where its events are processed; it is left "
            f"alone until its record with the key {CLAIM.decode()} is what it was"
        )
    refuse_others(claim, where, options)
    states.ready()
    return Taken(states, claim, end)
