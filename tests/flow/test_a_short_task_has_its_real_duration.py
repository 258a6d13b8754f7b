"""The news of a start may travel with that of the end; the duration that people see is the task's own."""

from __future__ import annotations

import anyio
import pytest

from engine.ports.taskrunner import Exit, TaskRequest
from tests.flow.engines import World
from tests.programs import chain

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


@pytest.mark.parametrize("seconds", [0.004, 0.019, 0.3, 7.0])
async def test_from_its_start_to_its_end(seconds: float) -> None:
    world = World(chain(1))
    copying = world.runner.script

    async def script(request: TaskRequest) -> Exit:
        await anyio.sleep(seconds)
        played = copying(request)
        return played if isinstance(played, Exit) else await played

    world.runner.script = script
    await world.run()
    found = (await world.nodes())["n0"]
    assert found.started_at == found.attempt_started_at
    assert found.ended_at - found.started_at == pytest.approx(seconds, abs=0.002)
