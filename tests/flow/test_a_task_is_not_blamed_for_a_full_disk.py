"""A task that fails without a word while the store takes no writes: the engine stops, and runs it again when there is
room; with room, the failure is the task's own.
"""

from __future__ import annotations

import pytest

from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.scripts import copies, exits
from engine.model.errors import StoreFailed
from engine.ports.taskrunner import Exit, TaskRequest
from tests.flow.engines import EXECUTION, World
from tests.programs import chain

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


class SmallDisk(MemoryBlobs):
    full = False

    async def put(self, uri: str, data: bytes, *, durable: bool = False) -> None:
        if self.full:
            raise StoreFailed(f"{uri} can't be written: No space left on device")
        await super().put(uri, data, durable=durable)


def fills(disk: SmallDisk, code: int) -> World:
    """A world whose first task finds the disk full, writes nothing and exits with a status."""
    world = World(chain(1, retries=0))
    world.blobs = disk

    def script(request: TaskRequest) -> Exit:
        disk.full = True
        ended = exits(code)(request)
        assert isinstance(ended, Exit)
        return ended

    world.runner.script = script
    return world


@pytest.mark.parametrize("code", [0, 1])
async def test_the_engine_stops_and_a_resume_runs_the_attempt_again(code: int) -> None:
    disk = SmallDisk()
    world = fills(disk, code)
    with pytest.raises(ExceptionGroup) as stopped:
        await world.run()
    assert stopped.group_contains(StoreFailed, match="No space left")

    world.crash()
    disk.full = False
    world.runner.script = copies(disk)
    async with world.engine() as engine:
        execution = await engine.wait(EXECUTION)
    assert execution.phase.value == "SUCCEEDED"
    assert [(fact.phase, fact.attempt) for fact in await world.facts() if fact.path == "n0"][-1] == ("SUCCEEDED", 0)


async def test_with_room_the_failure_is_the_tasks_own_and_the_probe_is_gone() -> None:
    world = World(chain(1, retries=0))
    world.runner.script = exits(1)
    execution = await world.run()
    assert execution.error is not None
    assert execution.error.message.endswith("the task exited with status 1")
    left = [uri async for uri in world.blobs.list(world.blobs.uri("metadata"))]
    assert [uri for uri in left if uri.endswith("/room")] == []
