"""The result of a @dynamic task is that of the graph it planned: it is kept when that has ended."""

from __future__ import annotations

import anyio
import pytest

from engine.adapters.memory.scripts import by_node, copies, hangs, plans
from engine.adapters.storecache import StoreCache
from engine.model.cache import CacheKey
from engine.model.errors import Transient
from engine.model.ids import ExecutionId
from engine.ports.cache import CacheEntry
from engine.wire.natural import natural_map
from tests.dataplane import serialized
from tests.flow.caching import SECOND, THIRD, said
from tests.flow.engines import EXECUTION, World
from tests.flow.test_a_dynamic_task_runs_what_it_planned import CHAIN, DYNAMIC, FLOW, INNER, WORK
from tests.flow.test_a_workflow_runs_to_its_end import until
from tests.packages import plan, registered, workflow_id

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


def caching() -> World:
    spec = type(DYNAMIC)()
    spec.CopyFrom(DYNAMIC)
    spec.template.metadata.discoverable = True
    spec.template.metadata.discovery_version = "1"
    world = World.of(registered(spec, WORK, INNER, FLOW, plan("m.plan", INNER)))
    world.runner.script = by_node({"n0": plans(world.blobs, CHAIN)}, copies(world.blobs))
    return world


async def run(world: World, execution: ExecutionId) -> object:
    ended = await world.run(workflow_id("m.w"), inputs=serialized(n=1), execution=execution)
    assert ended.phase.value == "SUCCEEDED", ended.error
    assert await world.problems() == []
    return natural_map(await world.blobs.get(ended.outputs_uri))["o0"]


async def test_the_second_time_nothing_of_it_runs() -> None:
    world = caching()
    assert await run(world, EXECUTION) == 5
    assert await run(world, SECOND) == 5
    assert await said(world) == [
        ("QUEUED", ""),
        ("RUNNING", "CACHE_MISS"),
        ("DYNAMIC_RUNNING", "CACHE_MISS"),
        ("SUCCEEDING", "CACHE_MISS"),
        ("SUCCEEDED", "CACHE_POPULATED"),
    ]
    assert await said(world, execution=SECOND) == [("QUEUED", ""), ("SUCCEEDED", "CACHE_HIT")]
    assert [key.path for key in world.runner.launches if key.execution == SECOND] == ["n1"]


class Full(StoreCache):
    async def keep(self, key: CacheKey, entry: CacheEntry) -> None:
        raise Transient("the cache is full")


async def test_a_cache_that_takes_nothing_fails_nothing() -> None:
    world = caching()
    world.cache = Full(world.blobs)
    assert await run(world, EXECUTION) == 5
    assert (await said(world))[-1] == ("SUCCEEDED", "CACHE_PUT_FAILURE")


async def test_a_crash_before_it_is_kept() -> None:
    world = caching()
    world.runner.script = by_node({"n0": plans(world.blobs, CHAIN), "n1": hangs}, copies(world.blobs))
    async with world.engine() as engine:
        await engine.submit(EXECUTION, workflow_id("m.w"), world.program.digest, serialized(n=1))
        await until(engine, EXECUTION, "n0", "SUCCEEDING")
    world.crash()
    world.runner.script = by_node({"n0": plans(world.blobs, CHAIN)}, copies(world.blobs))
    async with world.engine() as engine:
        assert (await engine.wait(EXECUTION)).phase.value == "SUCCEEDED"
    assert (await said(world))[-1] == ("SUCCEEDED", "CACHE_POPULATED")
    assert await run(world, SECOND) == 5
    assert (await said(world, execution=SECOND))[-1] == ("SUCCEEDED", "CACHE_HIT")


class Slow(StoreCache):
    async def keep(self, key: CacheKey, entry: CacheEntry) -> None:
        await anyio.sleep_forever()


async def test_an_abort_while_it_is_being_kept() -> None:
    world = caching()
    world.cache = Slow(world.blobs)
    async with world.engine() as engine:
        await engine.submit(THIRD, workflow_id("m.w"), world.program.digest, serialized(n=1))
        await until(engine, THIRD, "n0", "SUCCEEDING")
        await engine.abort(THIRD, "enough")
        assert (await engine.wait(THIRD)).phase.value == "ABORTED"
    assert (await world.phases(THIRD))["n0"] == "ABORTED"
    assert await world.problems() == []
