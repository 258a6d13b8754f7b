"""`cache_serialize`: the others wait, not started, and take what the one has made; its end is the next one's turn."""

from __future__ import annotations

import anyio
import pytest

from engine.adapters.memory.scripts import by_attempt, copies, exits, hangs, raises, takes
from engine.model.cache import CachePolicy
from engine.model.ids import ExecutionId
from engine.wire.natural import natural_map
from tests.dataplane import serialized
from tests.flow.caching import cached_map, cached_task, elements_said, launched, said
from tests.flow.engines import EXECUTION, World

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

SERIALIZE = CachePolicy("1", serialize=True)
NAMES = [ExecutionId("p", "d", f"x{k}") for k in range(5)]
HIT = [("QUEUED", ""), ("SUCCEEDED", "CACHE_HIT")]


async def run_all(world: World, inputs: bytes, names: list[ExecutionId]) -> list[str]:
    """Their phases at the end."""
    async with world.engine() as engine:
        for name in names:
            await engine.submit(name, world.first, world.program.digest, inputs)
        return [(await engine.wait(name)).phase.value for name in names]


async def test_five_executions_run_one_task() -> None:
    world = World(cached_task(SERIALIZE))
    world.runner.script = takes(60, copies(world.blobs))
    start = anyio.current_time()
    assert await run_all(world, serialized(a=7), NAMES) == ["SUCCEEDED"] * 5
    assert world.runner.launches.total() == 1
    assert anyio.current_time() - start == pytest.approx(60, abs=0.5)
    statuses = [await said(world, execution=name) for name in NAMES]
    assert statuses.count(HIT) == 4
    for name in NAMES:
        record = (await world.log.find([name]))[name]
        assert natural_map(await world.blobs.get(record.outputs_uri)) == {"o0": 7}
    assert await world.problems() == []


async def test_without_it_all_of_them_run() -> None:
    world = World(cached_task())
    world.runner.script = takes(60, copies(world.blobs))
    await run_all(world, serialized(a=7), NAMES)
    assert world.runner.launches.total() == 5


async def test_other_inputs_do_not_wait() -> None:
    world = World(cached_task(SERIALIZE))
    world.runner.script = takes(60, copies(world.blobs))
    start = anyio.current_time()
    async with world.engine() as engine:
        for number, name in enumerate(NAMES):
            await engine.submit(name, world.first, world.program.digest, serialized(a=number))
        for name in NAMES:
            await engine.wait(name)
    assert anyio.current_time() - start == pytest.approx(60, abs=0.5)


async def test_when_the_one_fails_the_next_runs_at_once() -> None:
    world = World(cached_task(SERIALIZE))
    ends = iter([takes(10, exits(1)), takes(10, copies(world.blobs))])
    world.runner.script = lambda request: next(ends)(request)
    start = anyio.current_time()
    phases = await run_all(world, serialized(a=7), NAMES[:3])
    assert sorted(phases) == ["FAILED", "SUCCEEDED", "SUCCEEDED"]
    assert world.runner.launches.total() == 2
    assert anyio.current_time() - start == pytest.approx(20, abs=0.5)


async def test_when_the_one_is_aborted_the_next_runs_at_once() -> None:
    world = World(cached_task(SERIALIZE))
    world.runner.script = hangs
    async with world.engine() as engine:
        await engine.submit(NAMES[0], world.first, world.program.digest, serialized(a=7))
        await anyio.sleep(1)
        world.runner.script = copies(world.blobs)
        await engine.submit(NAMES[1], world.first, world.program.digest, serialized(a=7))
        await anyio.sleep(1)
        assert await world.phases(NAMES[1]) == {"n0": "QUEUED"}
        start = anyio.current_time()
        await engine.abort(NAMES[0], "enough")
        assert (await engine.wait(NAMES[1])).phase.value == "SUCCEEDED"
    assert anyio.current_time() - start == pytest.approx(0, abs=0.5)
    assert launched(world.runner, NAMES[1]) == [None]


async def test_one_that_waits_can_be_aborted() -> None:
    world = World(cached_task(SERIALIZE))
    world.runner.script = takes(60, copies(world.blobs))
    async with world.engine() as engine:
        for name in NAMES[:3]:
            await engine.submit(name, world.first, world.program.digest, serialized(a=7))
        await anyio.sleep(1)
        waiting = [name for name in NAMES[:3] if await world.phases(name) == {"n0": "QUEUED"}]
        assert len(waiting) == 2
        await engine.abort(waiting[0], "enough")
        ended = [(await engine.wait(name)).phase.value for name in NAMES[:3]]
    assert sorted(ended) == ["ABORTED", "SUCCEEDED", "SUCCEEDED"]
    assert world.runner.launches.total() == 1


async def test_a_crash_of_the_engine_frees_it() -> None:
    world = World(cached_task(SERIALIZE))
    world.runner.script = hangs
    async with anyio.create_task_group() as group, world.engine() as engine:
        for name in NAMES:
            await engine.submit(name, world.first, world.program.digest, serialized(a=7))
        await anyio.sleep(5)
        group.cancel_scope.cancel()
    world.crash()
    world.runner.script = takes(10, copies(world.blobs))
    async with world.engine() as engine:
        assert [(await engine.wait(name)).phase.value for name in NAMES] == ["SUCCEEDED"] * 5
    assert sum(launched(world.runner, name) == [None] for name in NAMES) == 1
    assert await world.problems() == []


async def test_a_retry_of_the_one_stands_in_line_again() -> None:
    world = World(cached_task(SERIALIZE))
    failing = raises(world.blobs, "again", recoverable=True)
    world.runner.script = by_attempt(takes(1, failing), takes(1, copies(world.blobs)))
    assert sorted(await run_all(world, serialized(a=7), NAMES[:2])) == ["FAILED", "FAILED"]
    assert await said(world, execution=NAMES[0]) == [
        ("QUEUED", ""),
        ("RUNNING", "CACHE_MISS"),
        ("FAILED", "CACHE_MISS"),
    ]


async def test_equal_elements_of_a_map() -> None:
    world = World(cached_map(SERIALIZE))
    world.runner.script = takes(10, copies(world.blobs))
    execution = await world.run(inputs=serialized(xs=[1, 1, 2, 1]))
    assert natural_map(await world.blobs.get(execution.outputs_uri)) == {"o0": [1, 1, 2, 1]}
    assert sorted(await elements_said(world)) == ["CACHE_HIT"] * 2 + ["CACHE_POPULATED"] * 2
    assert len(launched(world.runner, EXECUTION)) == 2
