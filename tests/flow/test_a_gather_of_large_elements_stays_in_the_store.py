"""On local files the store itself appends large elements; the list is the same to the byte, and so are the errors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from msgspec import structs

from engine.adapters.files.blobs import FileBlobs
from engine.data.gather import gather
from engine.data.references import index_uri
from engine.data.stored import unpacked
from engine.machine import arrays
from engine.model import layout
from engine.model.errors import Permanent
from engine.model.graph import TaskSpec
from engine.model.ids import AttemptKey
from engine.model.limits import OffloadLimits
from engine.model.phases import NodePhase
from engine.model.state import Elements
from tests.dataplane import (
    ALWAYS,
    EXECUTION,
    KEY,
    NEVER,
    finished_map,
    gathering,
    literal,
    parsed,
    put,
    serialized,
    serialized_literal,
)
from tests.programs import INT, interface, mapped, task

SPEC = mapped(task("sq"))
SIZES = [20_000, 1_500_000, 3, 60_000, 250_000, 0, 262_144, 100]
VALUES: list[object] = [chr(97 + number) * size for number, size in enumerate(SIZES)]


class Watched(FileBlobs):
    """Says what was read through the event loop."""

    reads = 0

    async def get_many(self, uris: Sequence[str], end: int | None = None) -> list[bytes | None]:
        self.reads += len(uris)
        return await super().get_many(uris, end)


@pytest.fixture
async def blobs(tmp_path: Path) -> AsyncIterator[Watched]:
    async with Watched.open(tmp_path / "store") as store:
        assert isinstance(store, Watched)
        yield store


def place(index: int) -> str:
    return layout.outputs(AttemptKey(EXECUTION, "n1", 0, index))


async def gathered(blobs: Watched, elements: Elements, limits: OffloadLimits, spec: TaskSpec = SPEC) -> bytes:
    return await blobs.get(await gather(blobs, limits, gathering(spec, elements)))


@pytest.mark.parametrize("failed", [[], [0, 3, 4, 7]])
async def test_an_inline_list_is_flyteidls(blobs: Watched, failed: list[int]) -> None:
    elements = await finished_map(blobs, VALUES, failed=failed)
    values = [None if index in failed else value for index, value in enumerate(VALUES)]
    assert await gathered(blobs, elements, NEVER) == serialized(o0=values)
    assert blobs.reads == 0


@pytest.mark.parametrize("failed", [[], [0, 3, 4, 7]])
async def test_an_offloaded_list_has_an_index_of_its_items(blobs: Watched, failed: list[int]) -> None:
    elements = await finished_map(blobs, VALUES, failed=failed)
    found = parsed(await gathered(blobs, elements, ALWAYS))["o0"].offloaded_metadata
    values = [None if index in failed else value for index, value in enumerate(VALUES)]
    whole = await blobs.get(found.uri)
    assert whole == serialized_literal(values)
    assert found.size_bytes == len(whole)
    beside = index_uri(found.uri)
    assert beside is not None
    offsets = unpacked(await blobs.get(beside))
    assert len(offsets) == len(VALUES) + 1
    for index, value in enumerate(values):
        assert whole[offsets[index] : offsets[index + 1]].endswith(serialized_literal(value))
    assert offsets[-1] == len(whole)


@pytest.mark.parametrize(
    ("left", "reason"),
    [
        (None, "no object at {uri}"),
        (serialized(other="x" * 30_000), "it is not there"),
        (serialized(o0="x" * 30_000)[:-1], "the field at byte 0 says 30020 bytes, 30019 are left"),
    ],
)
async def test_an_element_without_its_output_is_named(blobs: Watched, left: bytes | None, reason: str) -> None:
    elements = await finished_map(blobs, ["x" * 30_000] * 4)
    uri = blobs.uri(place(2))
    await (blobs.delete(uri) if left is None else blobs.put(uri, left))
    with pytest.raises(Permanent) as problem:
        await gather(blobs, ALWAYS, gathering(SPEC, elements))
    failure = problem.value.failure
    assert (failure.code, failure.node) == ("OutputsNotFound", "n1[2]")
    expected = reason.format(uri=uri)
    assert failure.message == f"element 2 of 4 has no readable output 'o0' in {uri}: {expected}"
    assert sorted([found async for found in blobs.list(blobs.uri(layout.attempt_prefix(KEY)))]) == [
        blobs.uri(place(index)) for index in range(4) if index != 2 or left is not None
    ]


async def test_elements_that_are_written_oddly_are_gathered_too(blobs: Watched) -> None:
    values: list[object] = [letter * 30_000 for letter in "abcde"]
    elements = await finished_map(blobs, values)
    await put(blobs, place(1), serialized(o0="old") + serialized(o0=values[1]))
    await put(blobs, place(3), serialized(a="x" * 50_000, o0=values[3], z="x"))
    assert await gathered(blobs, elements, NEVER) == serialized(o0=values)
    assert 0 < blobs.reads < 5


async def test_several_outputs_are_gathered_each(blobs: Watched) -> None:
    pair = mapped(task("pair", interface({"a": INT}, {"x": INT, "y": INT})))
    elements = arrays.created(3)
    for index in range(3):
        await put(blobs, place(index), serialized(x=index, y="y" * 40_000))
        elements = arrays.with_element(elements, index, NodePhase.SUCCEEDED)
    sizes = {
        "x": sum(2 + literal(index).ByteSize() for index in range(3)),
        "y": 3 * (4 + literal("y" * 40_000).ByteSize()),
    }
    elements = structs.replace(elements, output_bytes=sizes)
    expected = serialized(x=[0, 1, 2], y=["y" * 40_000] * 3)
    assert await gathered(blobs, elements, NEVER, pair) == expected


async def test_sizes_that_do_not_add_up_are_measured_again(blobs: Watched) -> None:
    values: list[object] = ["x" * 30_000] * 3
    elements = structs.replace(await finished_map(blobs, values), output_bytes={"o0": 70_000})
    assert await gathered(blobs, elements, NEVER) == serialized(o0=values)
