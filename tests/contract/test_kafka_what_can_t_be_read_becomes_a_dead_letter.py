"""User case S08: bytes that are no event are dead-lettered once, with where they stood, and hold up nobody."""

from __future__ import annotations

import pytest

from engine.adapters.kafka.inbox import MEMORY
from engine.adapters.kafka.options import Topic
from engine.ports.eventlog import Changes, DeadLetter
from tests.contract.kafka_world import kafka_world
from tests.contract.log_nouns import named, read, submitted, take
from tests.contract.test_kafka_events_in_the_wrong_partition_are_forwarded import publish

pytestmark = pytest.mark.service("kafka")
JUNK = b"\xff\x00junk"


async def test_it_is_read_with_its_bytes_and_its_problem() -> None:
    async with kafka_world() as world:
        await publish(world, JUNK, b"")
        await world.log.append([submitted("a")], durable=True)
        junk, empty, good = await read(world.log, 3)
        assert (junk.event, junk.raw, empty.raw, good.event) == (None, JUNK, b"", submitted("a"))
        assert "6 bytes are no msgpack map" in junk.problem
        letters = [DeadLetter(record.offset, record.raw, record.problem) for record in (junk, empty)]
        await world.log.commit([junk, empty, good], Changes(dead_letters=letters))
        await world.crash()
        await world.log.append([submitted("b")], durable=True)
        assert await take(world.log) == [submitted("b")]
        assert await world.log.dead_letters() == [
            DeadLetter(0, JUNK, junk.problem),
            DeadLetter(1, b"", empty.problem),
        ]
        first, _ = await world.records(Topic.DEAD_LETTERS)
        assert first.value == JUNK
        assert dict(first.headers) == {"reason": junk.problem.encode(), "partition": b"0", "offset": b"0"}


async def test_a_letter_names_the_execution_it_is_about() -> None:
    async with kafka_world() as world:
        letter = DeadLetter(7 * MEMORY + 3, b"raw", "raised KeyError: 'x'", named("a"))
        await world.log.commit((), Changes(dead_letters=[letter]))
        (found,) = await world.records(Topic.DEAD_LETTERS)
        assert (found.key, dict(found.headers)["execution"]) == (b"p:d:a", b"a")
        assert await world.log.dead_letters() == [letter]
