"""Recovery in a whole engine: values are right, nothing that succeeded runs again, whatever is killed and when."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.adapters.memory.scripts import by_node, copies, raises
from engine.app import Engine
from engine.loop.hooks import Place, nothing
from engine.machine.children import child_id
from engine.model import layout
from engine.model.errors import BadInput
from engine.model.events import ExecutionSubmitted
from engine.model.ids import AttemptKey, ExecutionId
from tests.flow.engines import EXECUTION, World
from tests.flow.test_a_crash_at_any_hook_loses_nothing import PowerCut, cut_at
from tests.flow.test_a_workflow_runs_to_its_end import ints, nested, outputs
from tests.programs import chain

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

AGAIN = ExecutionId("p", "d", "e2")
INPUTS = ints(xs=[3, 1, 2])


async def _failed(*places: str) -> World:
    """The nested workflow, failed at these places: elements of its map, or the node of its child execution."""
    world = World(nested())
    broken = {place: raises(world.blobs, "boom") for place in places}
    world.runner.script = by_node(broken, copies(world.blobs))
    ended = await world.run(inputs=INPUTS)
    assert ended.phase.value == "FAILED"
    world.runner.script = copies(world.blobs)
    world.runner.launches.clear()
    return world


def _asked(world: World, source: ExecutionId = EXECUTION, into: ExecutionId = AGAIN) -> ExecutionSubmitted:
    return ExecutionSubmitted(into, world.first, "digest", recovers=source)


async def _recover(world: World, source: ExecutionId = EXECUTION, into: ExecutionId = AGAIN) -> dict[str, object]:
    async with world.engine() as engine:
        await engine.accept(_asked(world, source, into), INPUTS)
        ended = await engine.wait(into)
    assert ended.phase.value == "SUCCEEDED", ended.error
    assert await world.problems() == []
    return await outputs(world, ended)


def _launched(world: World) -> list[str]:
    return sorted(str(key).split("|")[1] for key in world.runner.launches)


async def test_only_the_failed_element_of_a_map_runs_again() -> None:
    world = await _failed("n0/0/n0[1]")
    assert await _recover(world) == {"o0": [3, 1, 2]}
    before = await world.element_phases("n0/0/n0")
    assert _launched(world) == ["n0", *(f"n0/0/n0[{k}]" for k in range(3) if before[k] != "SUCCEEDED")]


async def test_a_failed_child_is_recovered_and_the_map_before_it_is_not_looked_at() -> None:
    world = await _failed("n0")
    assert await _recover(world) == {"o0": [3, 1, 2]}
    assert _launched(world) == ["n0"]
    assert await world.phases(AGAIN) == {"n0": "RECOVERED", "n1": "SUCCEEDED"}
    assert (await world.nodes(AGAIN))["n0"].outputs_uri == (await world.nodes())["n0"].outputs_uri


async def test_outputs_of_elements_that_are_gone_are_made_again() -> None:
    world = await _failed("n0/0/n0[1]")
    run = (await world.log.find([EXECUTION]))[EXECUTION].run
    key = AttemptKey(EXECUTION, "n0/0/n0", 0, 0, 0, run)
    await world.blobs.delete(world.blobs.uri(layout.attempt_prefix(key)))

    assert await _recover(world) == {"o0": [3, 1, 2]}
    assert "n0/0/n0[0]" in _launched(world)


async def test_a_recovery_of_a_recovery_reads_no_further_back_than_it() -> None:
    world = await _failed("n0/0/n0[1]")
    world.runner.script = by_node({"n0/0/n0[1]": raises(world.blobs, "boom")}, copies(world.blobs))
    async with world.engine() as engine:
        await engine.accept(_asked(world), INPUTS)
        second = await engine.wait(AGAIN)
    assert second.phase.value == "FAILED"
    before = await world.element_phases("n0/0/n0", AGAIN)
    await world.blobs.delete(world.blobs.uri(layout.execution_prefix(EXECUTION)))
    world.runner.script = copies(world.blobs)
    world.runner.launches.clear()

    assert await _recover(world, AGAIN, ExecutionId("p", "d", "e3")) == {"o0": [3, 1, 2]}
    assert _launched(world) == ["n0", *(f"n0/0/n0[{k}]" for k in range(3) if before[k] != "SUCCEEDED")]


@pytest.mark.parametrize("place", ["before_commit", "after_commit", "before_launch", "after_launch"])
@pytest.mark.parametrize("count", range(1, 9))
async def test_a_crash_anywhere(place: Place, count: int) -> None:
    world = await _failed("n0/0/n0[1]")
    succeeded = [k for k, phase in enumerate(await world.element_phases("n0/0/n0")) if phase == "SUCCEEDED"]
    world.hook = cut_at(place, count)

    async def go_on(engine: Engine) -> None:
        await engine.accept(_asked(world), INPUTS)
        await engine.wait(AGAIN)

    try:
        async with world.engine() as engine:
            await go_on(engine)
    except* PowerCut:
        world.crash()
        world.hook = nothing
    async with world.engine() as engine:
        await go_on(engine)
        ended = await engine.wait(AGAIN)

    assert await outputs(world, ended) == {"o0": [3, 1, 2]}
    assert await world.problems() == []
    again = Counter(key.index for key in world.runner.launches if key.index is not None)
    assert not {*again} & {*succeeded}


async def test_a_name_is_one_recovery_only() -> None:
    world = await _failed("n0/0/n0[1]")
    await _recover(world)
    async with world.engine() as engine:
        await engine.accept(_asked(world), INPUTS)
        with pytest.raises(BadInput, match="exists already"):
            await engine.submit(AGAIN, world.first, "digest", INPUTS)


async def test_what_can_t_be_recovered_starts_nothing() -> None:
    world = World(chain(1))
    await world.run()
    async with world.engine() as engine:
        with pytest.raises(BadInput, match=r"has SUCCEEDED: there is nothing to recover.*nothing was started"):
            await engine.accept(_asked(world), b"")
        with pytest.raises(BadInput, match="there is no execution e9; nothing was started"):
            await engine.accept(_asked(world, ExecutionId("p", "d", "e9")), b"")
        # A program that writes events itself gets no answer but a dead letter.
        await engine.send([_asked(world, ExecutionId("p", "d", "e9"))])
        await engine.submit(ExecutionId("p", "d", "last"), world.first, "digest", b"")
        await engine.wait(ExecutionId("p", "d", "last"))
    (letter,) = await world.log.dead_letters()
    assert letter.reason.endswith("execution p:d:e9, which it recovers, is not there or has not ended")
    assert await world.log.snapshot(AGAIN) is None


async def test_a_child_whose_old_one_is_not_there_runs_as_a_whole() -> None:
    world = await _failed("n0/0/n0[1]")
    assert await _recover(world) == {"o0": [3, 1, 2]}
    record = (await world.log.find([AGAIN]))[AGAIN]
    child = (await world.log.find([child_id(record.key("n1", 0))])).popitem()[1]
    assert child.phase.value == "SUCCEEDED"
    assert child.recovers is None
