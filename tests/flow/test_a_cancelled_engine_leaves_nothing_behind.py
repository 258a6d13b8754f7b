"""User case S30: wherever an engine is told to stop, it stops; what had ended is committed, the next does the rest.

That no asyncio task is left over is looked at after every test.
"""

from __future__ import annotations

import itertools
from collections import Counter

import anyio
import pytest

from engine.adapters.leases import FREE
from engine.adapters.memory.scripts import copies, hangs
from engine.loop.hooks import Hook, Place, nothing
from engine.model.cache import CachePolicy
from engine.model.events import ExecutionSubmitted
from engine.model.ids import ExecutionId
from tests.dataplane import serialized
from tests.flow.caching import cached_task
from tests.flow.engines import World
from tests.programs import chain

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(30)]

FIFTY = [ExecutionId("p", "d", f"x{number}") for number in range(50)]
PLACES: list[Place] = ["before_commit", "after_commit", "before_launch", "after_launch"]


def stops_at(place: Place, count: int, scope: anyio.CancelScope) -> Hook:
    """Tells the engine to stop the count-th time that it comes to this place; it goes on to its next wait."""
    seen = itertools.count(1)

    def hook(here: Place) -> None:
        if here == place and next(seen) == count:
            scope.cancel()

    return hook


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("count", [1, 2, 3])
async def test_in_a_turn_of_fifty_events(place: Place, count: int) -> None:
    world = World(chain(2))
    asked = [ExecutionSubmitted(each, world.first, world.program.digest, run="r") for each in FIFTY]
    await world.log.append(asked, durable=True)
    with anyio.CancelScope() as scope:
        world.hook = stops_at(place, count, scope)
        async with world.engine():
            await anyio.sleep(3600)
    assert scope.cancelled_caught
    assert world.runner._alive == {}
    world.crash()
    assert await world.problems() == []
    committed = {len(await world.facts(each)) > 0 for each in FIFTY}
    # The first launch is that of the restore, before any turn.
    assert committed == {count > 1 or place.endswith("commit")}, "a turn is there as a whole or not at all"

    world.hook = nothing
    async with world.engine() as engine:
        assert {(await engine.wait(each)).phase.value for each in FIFTY} == {"SUCCEEDED"}
    assert await world.problems() == []
    for each in FIFTY:
        facts = await world.facts(each)
        assert Counter(fact.path for fact in facts if fact.phase == "SUCCEEDED")["n1"] == 1
        assert [fact.sequence for fact in facts] == list(range(1, len(facts) + 1))
    assert max(world.runner.launches.values()) <= 2
    assert {key.attempt for key in world.runner.launches} == {0}, "a stop uses up no retry"


async def test_with_tasks_that_run() -> None:
    world = World(chain(1))
    world.runner.script = hangs
    asked = [ExecutionSubmitted(each, world.first, world.program.digest, run="r") for each in FIFTY]
    await world.log.append(asked, durable=True)
    with anyio.move_on_after(60):
        async with world.engine():
            await anyio.sleep(3600)
    assert world.runner.most_alive == len(FIFTY)
    assert world.runner._alive == {}
    world.runner.script = copies(world.blobs)
    async with world.engine() as engine:
        assert {(await engine.wait(each)).phase.value for each in FIFTY} == {"SUCCEEDED"}
    assert {key.attempt for key in world.runner.launches} == {0}


async def test_with_a_lease_that_others_wait_for() -> None:
    world = World(cached_task(CachePolicy("1", serialize=True)))
    world.runner.script = hangs
    with anyio.move_on_after(5):
        async with world.engine() as engine:
            for each in FIFTY[:3]:
                await engine.submit(each, world.first, world.program.digest, serialized(a=7))
            await anyio.sleep(3600)
    leases = [data for uri, data in world.blobs.objects.items() if "/lease/" in uri]
    assert leases == [FREE]


class Broken(Exception):
    """What a part of the engine stumbles over."""


@pytest.mark.parametrize("place", PLACES)
async def test_a_part_that_fails_ends_the_engine_with_its_own_error(place: Place) -> None:
    world = World(chain(2))
    world.runner.script = hangs

    def hook(here: Place) -> None:
        if here == place:
            raise Broken(place)

    world.hook = hook
    asked = [ExecutionSubmitted(each, world.first, world.program.digest, run="r") for each in FIFTY]
    await world.log.append(asked, durable=True)
    with pytest.RaisesGroup(pytest.RaisesExc(Broken, match=place), flatten_subgroups=True):
        async with world.engine():
            await anyio.sleep(3600)
    assert world.runner._alive == {}
