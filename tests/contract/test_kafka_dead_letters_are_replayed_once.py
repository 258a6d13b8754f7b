"""What could not be processed is listed with its bytes, headers and reason, and appended again once, after a fix."""

from __future__ import annotations

import anyio
import msgpack
import pytest
from aiokafka import AIOKafkaProducer

from engine.adapters.kafka.letters import Letters
from engine.adapters.kafka.options import Topic
from engine.model.phases import ExecutionPhase
from engine.wire import codec
from tests.backing.session import address
from tests.contract.kafka_engine import letters_there, served

pytestmark = [pytest.mark.service("kafka"), pytest.mark.timeout(120)]
PATIENCE_SECONDS = 90.0
EVENT = {
    "v": 1,
    "type": "execution.requested",
    "execution": {"project": "flytesnacks", "domain": "development", "name": "later"},
    "entity": "m.w",
    "inputs": {"n": 5},
}


async def test_a_letter_that_can_be_read_by_now_is_processed_and_counts_as_replayed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        async with served() as (world, _, client):
            topic, headers = world.clients.options.topic(Topic.EVENTS), [("x", b"\xff")]
            with monkeypatch.context() as broken:
                broken.setattr(codec, "EVENT_VERSION", 0)  # an engine that is too old for the event
                async with AIOKafkaProducer(bootstrap_servers=address("kafka")) as producer:
                    await producer.send_and_wait(topic, msgpack.packb(EVENT), b"k", 0, headers=headers)
                    await producer.send_and_wait(topic, b"junk", b"k", 0)
                await letters_there(world, 2)
            letters = await Letters.open(world.clients)
            first, junk = await letters.all()
            assert (first.id, first.replayed, first.letter.headers) == ("0/0", False, (("x", b"\xff"),))
            assert first.letter.raw == msgpack.packb(EVENT)
            assert "version 1 can't be read: this engine reads versions up to 0" in first.letter.reason
            assert first.at > 1e9

            await letters.replay(first)
            ended = await client.wait(client.named("later"))
            assert ended.phase is ExecutionPhase.SUCCEEDED
            await letters.replay(junk)
            await letters_there(world, 3)
            again = await letters.all()
            assert [(letter.letter.raw, letter.replayed) for letter in again] == [
                (msgpack.packb(EVENT), True),
                (b"junk", True),
                (b"junk", False),
            ]
            assert dict(again[2].letter.headers) == {"replay": junk.id.encode()}
            # Twice is once: the execution is there.
            await letters.replay(first)
            assert (await client.wait(await client.submit("m.w", {"n": 1}))).phase is ExecutionPhase.SUCCEEDED
            assert len(await letters.all()) == 3
            assert len(await world.log.executions()) == 2
