"""User case S04: an execution that hangs is gone past by those behind it, and goes on after a crash, each once."""

from __future__ import annotations

import anyio
import pytest

from engine.adapters.kafka.visitor import Visitor
from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.runner import NoopRunner
from engine.adapters.memory.scripts import copies, hangs
from engine.client.connecting import Client
from engine.model.phases import ExecutionPhase
from engine.ports.taskrunner import Exit, TaskRequest
from tests import packages
from tests.contract.kafka_engine import DOMAIN, PROJECT, engine_on, registered
from tests.contract.kafka_world import kafka_world
from tests.flow.asking import INT

pytestmark = [pytest.mark.service("kafka"), pytest.mark.timeout(120)]
PATIENCE_SECONDS = 90.0
NAMES = ["e10", "e11", "e12", "e13", "e14"]


async def test_the_first_of_five_hangs_until_a_crash() -> None:
    blobs = MemoryBlobs()
    one = packages.node("n0", {"a": packages.given("n")})
    gives = {"o0": (INT, packages.output("n0"))}
    await registered(blobs, packages.task("m.t"), packages.workflow("m.one", one, gives=gives))
    play = copies(blobs)

    async def stuck(request: TaskRequest) -> Exit:
        if request.key.execution.name == NAMES[0]:
            return await hangs(request)
        found = play(request)
        assert not isinstance(found, Exit)
        return await found

    with anyio.fail_after(PATIENCE_SECONDS):
        async with kafka_world() as world, Visitor.open(world.clients) as visitor:
            client, before, after = Client(visitor, blobs, (PROJECT, DOMAIN)), NoopRunner(stuck), NoopRunner(play)
            async with engine_on(world, blobs, before):
                asked = [await client.submit("m.one", {"n": n}, name=name) for n, name in enumerate(NAMES)]
                for one_asked in asked[1:]:
                    assert (await client.wait(one_asked)).phase is ExecutionPhase.SUCCEEDED
            launched = before.launches
            assert sorted(key.execution.name for key in launched) == NAMES
            assert set(launched.values()) == {1}

            await world.crash()
            for _ in range(2):  # the requests come again: nothing starts
                for n, name in enumerate(NAMES):
                    await client.submit("m.one", {"n": n}, name=name)
            async with engine_on(world, blobs, after):
                ended = await client.wait(asked[0])
                assert (ended.phase, await client.outputs(ended)) == (ExecutionPhase.SUCCEEDED, {"o0": 0})
                await client.wait(await client.submit("m.one", {"n": 9}))
            ours = {key: count for key, count in after.launches.items() if key.execution.name in NAMES}
            # The same attempt, by the same key: what it may have left running is recognised.
            assert ours == {next(key for key in launched if key.execution.name == NAMES[0]): 1}
            assert await world.log.dead_letters() == []
