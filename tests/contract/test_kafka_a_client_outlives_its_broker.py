"""Whoever submits and follows waits while the broker is silent or away, and goes on: each submission counts once."""

from __future__ import annotations

import anyio
import anyio.to_thread
import pytest

from engine.adapters.kafka.visitor import Visitor
from engine.adapters.memory.blobs import MemoryBlobs
from engine.client.connecting import Client
from engine.client.following import Ended
from engine.model.phases import ExecutionPhase
from tests.backing import kafka
from tests.contract.kafka_engine import DOMAIN, PROJECT, engine_on, registered
from tests.contract.test_kafka_trouble_is_waited_out import own_broker

pytestmark = [pytest.mark.service("kafka"), pytest.mark.timeout(180)]
COUNT = 30


@pytest.mark.parametrize("dies", [False, True], ids=["is silent", "dies"])
async def test_submissions_before_and_during_the_trouble_all_end(dies: bool) -> None:
    blobs = MemoryBlobs()
    await registered(blobs)
    ended: list[Ended] = []
    with anyio.fail_after(150):
        async with own_broker() as (broker, world), engine_on(world, blobs), Visitor.open(world.clients) as visitor:
            client = Client(visitor, blobs, (PROJECT, DOMAIN))

            async def one(number: int) -> None:
                ended.append(await client.wait(await client.submit("m.w", {"n": number}, name=f"e{number}")))

            async with anyio.create_task_group() as group:
                group.start_soon(one, 0)
                while not ended:
                    await anyio.lowlevel.checkpoint()
                if dies:
                    await anyio.to_thread.run_sync(broker.kill)
                else:
                    broker.pause()
                for number in range(1, COUNT):
                    group.start_soon(one, number)
                # Longer than any one call waits for its answer.
                await anyio.sleep(3)
                if dies:
                    await anyio.to_thread.run_sync(kafka.run, broker, world.clients.options.bootstrap)
                else:
                    broker.go_on()
            assert [found.phase for found in ended] == [ExecutionPhase.SUCCEEDED] * COUNT
            assert len(await world.log.executions()) == COUNT
            assert await world.log.dead_letters() == []
