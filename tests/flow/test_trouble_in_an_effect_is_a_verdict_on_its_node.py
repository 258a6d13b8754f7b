"""What an effect raises ends its node, is tried again, or stops the engine: never all three, never in silence."""

from __future__ import annotations

import pytest

from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.scripts import copies
from engine.model.errors import BlobNotFound, Defect, StoreFailed, StoreRefused, Transient
from tests.flow.engines import EXECUTION, World
from tests.programs import chain

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


class Troubled(MemoryBlobs):
    """Raises the given errors, one after the other, when the inputs of node n1 are put."""

    def __init__(self, *errors: Exception) -> None:
        super().__init__()
        self.errors = list(errors)

    async def put(self, uri: str, data: bytes, *, durable: bool = False) -> None:
        if "/n1/" in uri and self.errors:
            raise self.errors.pop(0)
        await super().put(uri, data, durable=durable)


def world(*errors: Exception) -> World:
    troubled = World(chain(2))
    troubled.blobs = Troubled(*errors)
    troubled.runner.script = copies(troubled.blobs)
    return troubled


@pytest.mark.parametrize(
    "error", [StoreRefused("an odd name"), BlobNotFound("file:///gone"), Defect("a slip"), KeyError("x")]
)
async def test_an_error_of_one_node_fails_that_node_and_not_the_engine(error: Exception) -> None:
    here = world(error)
    execution = await here.run()

    assert execution.phase.value == "FAILED"
    assert execution.error is not None
    assert (execution.error.code, execution.error.kind.value) == ("RuntimeExecutionError", "SYSTEM")
    assert str(error) in execution.error.message
    assert await here.phases() == {"n0": "SUCCEEDED", "n1": "FAILED"}


async def test_passing_trouble_is_waited_out_and_costs_no_attempt() -> None:
    here = world(*[Transient("slow down")] * 20)
    execution = await here.run()

    assert execution.phase.value == "SUCCEEDED"
    assert (await here.nodes())["n1"].attempt == 0


async def test_a_store_that_can_t_be_written_stops_the_engine_and_the_next_one_goes_on() -> None:
    here = world(StoreFailed("disk full"))
    with pytest.raises(ExceptionGroup) as stopped:
        await here.run()
    assert stopped.group_contains(StoreFailed, match="disk full")

    here.crash()
    async with here.engine() as engine:
        execution = await engine.wait(EXECUTION)
    assert execution.phase.value == "SUCCEEDED"
