from __future__ import annotations

import pytest

from engine.adapters.memory.scripts import SUCCESS, copies
from engine.model.ids import AttemptKey
from engine.ports.concern import ATTEMPT
from engine.ports.taskrunner import Exit, TaskRequest
from tests.flow.engines import World
from tests.programs import graph, node, program, task

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


async def test_each_effect_has_its_own_and_the_loop_has_none() -> None:
    work = task("work")
    world = World(program([graph("wf", [node("n0", work.id), node("n1", work.id)])], [work]))
    seen: list[tuple[AttemptKey, AttemptKey | None]] = []
    then = copies(world.blobs)

    async def note(request: TaskRequest) -> Exit:
        seen.append((request.key, ATTEMPT.get()))
        await then(request)  # type: ignore[misc]
        seen.append((request.key, ATTEMPT.get()))
        return SUCCESS

    world.runner.script = note
    await world.run()
    assert {key.path for key, _ in seen} == {"n0", "n1"}
    assert [key for key, _ in seen] == [concerned for _, concerned in seen]
    assert ATTEMPT.get() is None
