"""A queued task waits for its inputs, for an equal attempt, for a slot, or to begin: the engine tells which."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from engine.adapters.leases import Leases
from engine.adapters.memory.runner import NoopRunner
from engine.adapters.memory.scripts import copies, takes
from engine.adapters.storecache import StoreCache
from engine.app import Engine
from engine.gateway.commands import Desk
from engine.gateway.documents import Documents
from engine.gateway.waits import waits
from engine.model.ids import ExecutionId
from engine.wire.control import Told, Waits, pack_reply, pack_request, unpack_reply, unpack_request
from tests.dataplane import serialized
from tests.flow.caching import cached_task
from tests.flow.engines import EXECUTION, World
from tests.flow.test_an_engine_answers_commands import Caller, no_letters
from tests.flow.test_of_equal_attempts_one_runs import SERIALIZE
from tests.programs import graph, node, program, task

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

SECOND = ExecutionId("p", "d", "e2")
SLOT = "a free slot of the engine: all 1 are taken (processes.max_concurrent)"
EQUAL = "an equal attempt to end (cache_serialize): node n0 of execution p:d:e1"


def _world(world: World) -> World:
    """One slot, tasks that take a minute, and everybody who knows tells."""
    world.runner = NoopRunner(takes(60, copies(world.blobs)), max_concurrent=1)
    cache = StoreCache(world.blobs, Leases(world.blobs, engine="here"))
    world.cache, world.tells = cache, [world.runner, cache]
    return world


async def _told(world: World, engine: Engine, execution: ExecutionId) -> dict[str, str]:
    """As `get` and the API tell it, of the nodes that an author wrote."""

    async def ask(execution: ExecutionId) -> dict[str, str]:
        caller = Caller()
        request = unpack_request(pack_request(Waits(execution)))
        await Desk(engine, no_letters).answer(request, caller.tell)
        (reply,) = caller.heard
        assert isinstance(reply, Told)
        assert unpack_reply(pack_reply(reply)) == reply
        return reply.waits

    documents = Documents(world.log, world.blobs, Path("/home"), ask)
    documents._programs[world.program.digest] = world.program
    state = await documents.state(await documents.snapshot(execution))
    return {it.path: it.what for it in waits(state, await documents.notes(state)) if it.path != "end-node"}


async def test_for_a_slot_or_to_end() -> None:
    work = task("work")
    world = _world(World(program([graph("wf", [node(f"n{k}", work.id) for k in range(3)])], [work])))
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, world.program.digest, b"")
        await anyio.sleep(1)
        assert await _told(world, engine, EXECUTION) == {"n0": "its task to end", "n1": SLOT, "n2": SLOT}
        await anyio.sleep(60)
        assert await _told(world, engine, EXECUTION) == {"n1": "its task to end", "n2": SLOT}


async def test_for_an_equal_attempt_until_that_has_ended() -> None:
    world = _world(World(cached_task(SERIALIZE)))
    async with world.engine() as engine:
        for name in (EXECUTION, SECOND):
            await engine.submit(name, world.first, world.program.digest, serialized(a=7))
            await anyio.sleep(1)
        assert await _told(world, engine, EXECUTION) == {"n0": "its task to end"}
        assert await _told(world, engine, SECOND) == {"n0": EQUAL}
        assert (await engine.wait(SECOND)).phase.value == "SUCCEEDED"
        assert engine.waits(SECOND) == {}


async def test_for_the_lease_of_another_engine() -> None:
    world = _world(World(cached_task(SERIALIZE)))
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, world.program.digest, serialized(a=7))
        await anyio.sleep(1)
        other = _world(World(cached_task(SERIALIZE)))
        other.blobs = world.blobs
        cache = StoreCache(other.blobs, Leases(other.blobs, engine="there"))
        other.cache, other.tells = cache, [other.runner, cache]
        async with other.engine() as elsewhere:
            await elsewhere.submit(SECOND, other.first, other.program.digest, serialized(a=7))
            await anyio.sleep(1)
            assert await _told(other, elsewhere, SECOND) == {"n0": EQUAL}


async def test_for_its_inputs_where_no_hand_holds_it_up() -> None:
    world = _world(World(cached_task()))
    async with world.engine(idle=True) as engine:
        await engine.submit(EXECUTION, world.first, world.program.digest, serialized(a=7))
        await anyio.sleep(1)
        assert await _told(world, engine, EXECUTION) == {"n0": "its inputs to be resolved"}
    world.tells = ()
    async with world.engine(idle=True) as engine:
        told = await _told(world, engine, EXECUTION)
        assert told == {"n0": "its inputs, then a free slot of the engine (processes.max_concurrent)"}
