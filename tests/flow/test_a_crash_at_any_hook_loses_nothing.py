"""The power goes at each crash hook in turn; the next engine on the same log and store finishes the work."""

from __future__ import annotations

import itertools

import pytest

from engine.adapters.memory.scripts import by_attempt, by_node, copies, raises
from engine.loop.hooks import Hook, Place, nothing
from engine.wire.natural import natural_map
from tests.flow.engines import EXECUTION, World
from tests.flow.test_a_workflow_runs_to_its_end import ints, nested

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


class PowerCut(Exception):
    """Raised at a hook: nothing after it happens."""


def cut_at(place: Place, count: int) -> Hook:
    """Cuts the power the count-th time that the engine comes to this place."""
    seen = itertools.count(1)

    def hook(here: Place) -> None:
        if here == place and next(seen) == count:
            raise PowerCut(f"{place} {count}")

    return hook


async def _run_with_cut(place: Place, count: int) -> tuple[World, bool]:
    world = World(nested())
    flaky = by_attempt(raises(world.blobs, "again", recoverable=True), copies(world.blobs))
    world.runner.script = by_node({"n0/0/n0[1]": flaky}, copies(world.blobs))
    world.hook = cut_at(place, count)
    cut = False
    try:
        await world.run(inputs=ints(xs=[3, 1, 2]))
    except* PowerCut:
        cut = True
    if cut:
        world.crash()
        world.hook = nothing
        assert await world.problems() == []
        async with world.engine() as engine:
            await engine.submit(EXECUTION, world.first, world.program.digest, ints(xs=[3, 1, 2]))
            await engine.wait(EXECUTION)
    return world, cut


@pytest.mark.parametrize("place", ["before_commit", "after_commit", "before_launch", "after_launch"])
@pytest.mark.parametrize("count", range(1, 12))
async def test_the_work_is_finished_and_each_attempt_succeeds_once(place: Place, count: int) -> None:
    world, cut = await _run_with_cut(place, count)
    execution = (await world.log.find([EXECUTION]))[EXECUTION]
    assert await world.problems() == []

    assert execution.phase.value == "SUCCEEDED", execution.error
    assert natural_map(await world.blobs.get(execution.outputs_uri)) == {"o0": [3, 1, 2]}
    facts = await world.facts()
    assert [fact.sequence for fact in facts] == list(range(1, execution.sequence + 1))
    for path in await world.nodes():
        assert sum(fact.path == path and fact.index is None and fact.phase == "SUCCEEDED" for fact in facts) == 1
    ends = [fact.index for fact in facts if fact.path == "n0/0/n0" and fact.index is not None]
    assert set(ends) == {0, 1, 2}
    for index in range(3):
        mine = [fact for fact in facts if fact.path == "n0/0/n0" and fact.index == index]
        assert [fact.phase for fact in mine].count("SUCCEEDED") == 1
        assert mine[-1].attempt == (1 if index == 1 else 0)
    assert (await world.child("n1")).phase.value == "SUCCEEDED"
    assert max(world.runner.launches.values()) <= (2 if cut else 1)


async def test_a_submission_that_was_acknowledged_survives_the_power_cut() -> None:
    world = World(nested())
    world.hook = cut_at("before_commit", 1)
    with pytest.raises(ExceptionGroup):
        await world.run(inputs=ints(xs=[5]))
    world.crash()
    world.hook = nothing
    async with world.engine() as engine:
        execution = await engine.wait(EXECUTION)

    assert execution.phase.value == "SUCCEEDED"
