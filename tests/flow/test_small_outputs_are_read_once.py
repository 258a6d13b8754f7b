"""A value that was just judged is not read again by the node that follows; one that was replaced is not remembered."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.scripts import copies
from engine.data.recent import SMALL, read_maps, remember
from tests.flow.engines import World
from tests.programs import chain

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


class Counting(MemoryBlobs):
    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    async def get_many(self, uris: Sequence[str], end: int | None = None) -> list[bytes | None]:
        self.read += [uri for uri in uris if uri.endswith("/outputs.pb")]
        return await super().get_many(uris, end)


async def test_each_output_of_a_chain_is_read_by_its_judge_only() -> None:
    world = World(chain(4))
    world.blobs = blobs = Counting()
    world.runner.script = copies(blobs)
    execution = await world.run()

    assert execution.phase.value == "SUCCEEDED"
    assert len(blobs.read) == len(set(blobs.read)) == 4


@pytest.mark.parametrize("length", [SMALL, SMALL + 1])
async def test_what_an_object_holds_now_counts(length: int) -> None:
    blobs = MemoryBlobs()
    uri = blobs.uri("a")
    remember(blobs, uri, b"old")
    assert await read_maps(blobs, [uri, blobs.uri("b")]) == {uri: b"old", blobs.uri("b"): None}

    await blobs.put(uri, b"x" * length)
    remember(blobs, uri, b"x" * length)
    assert await read_maps(blobs, [uri]) == {uri: b"x" * length}
