"""Submissions of one name at the same time: the first one counts, also while no turn has seen it yet."""

from __future__ import annotations

import anyio
import pytest

from engine.model.errors import BadInput
from engine.wire.natural import natural_map
from tests.flow.engines import EXECUTION, World
from tests.flow.test_a_workflow_runs_to_its_end import ints, nested

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


async def test_the_same_submission_many_times_at_once_is_the_same_as_once() -> None:
    world = World(nested())
    async with world.engine() as engine, anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(engine.submit, EXECUTION, world.first, world.program.digest, ints(xs=[3, 1]))
        execution = await engine.wait(EXECUTION)
    assert execution.phase.value == "SUCCEEDED", execution.error
    assert natural_map(await world.blobs.get(execution.outputs_uri)) == {"o0": [3, 1]}
    assert set(world.runner.launches.values()) == {1}


async def test_another_submission_of_the_name_is_refused_and_touches_nothing() -> None:
    world = World(nested())
    refused: list[str] = []

    async def other() -> None:
        try:
            await engine.submit(EXECUTION, world.first, world.program.digest, ints(xs=[7]))
        except BadInput as problem:
            refused.append(str(problem))

    async with world.engine() as engine, anyio.create_task_group() as group:
        group.start_soon(engine.submit, EXECUTION, world.first, world.program.digest, ints(xs=[3, 1]))
        group.start_soon(other)
        execution = await engine.wait(EXECUTION)
    assert len(refused) == 1
    assert "e1 exists already" in refused[0]
    assert natural_map(await world.blobs.get(execution.outputs_uri)) == {"o0": [3, 1]}
    assert await world.log.dead_letters() == []
