"""A power cut after the acknowledgement must find the package and the inputs, not only the event."""

from __future__ import annotations

import pytest

from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.scripts import copies
from tests.flow.engines import World
from tests.flow.test_a_workflow_runs_to_its_end import ints, nested

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


class Recording(MemoryBlobs):
    def __init__(self) -> None:
        super().__init__()
        self.durable: list[str] = []

    async def put(self, uri: str, data: bytes, *, durable: bool = False) -> None:
        if durable:
            self.durable.append(uri.rsplit("/", 4)[1])
        await super().put(uri, data, durable=durable)


async def test_the_inputs_are_put_durably() -> None:
    world = World(nested())
    world.blobs = blobs = Recording()
    world.runner.script = copies(blobs)
    await world.run(inputs=ints(xs=[]))

    assert blobs.durable == ["start-node"]
