"""Every element has its place in the gathered list: a failed one a None, a missing one an error (S12, S13)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from flyteidl.core import types_pb2
from msgspec import structs

from engine.adapters.memory.blobs import MemoryBlobs
from engine.data.gather import gather
from engine.machine import arrays
from engine.model import layout
from engine.model.errors import ErrorKind, Permanent, Transient
from engine.model.graph import ArraySpec, TaskSpec
from engine.model.ids import AttemptKey
from engine.model.limits import OffloadLimits
from engine.model.phases import NodePhase
from tests.dataplane import (
    ALWAYS,
    EXECUTION,
    NEVER,
    RecordingBlobs,
    finished_map,
    gathering,
    literal,
    parsed,
    put,
    serialized,
    serialized_literal,
    values_of,
)
from tests.programs import INT, interface, list_of, mapped, task

SQUARES = mapped(task("sq"))
SILENT = mapped(task("silent", interface({"a": INT}, {})))
BOTH = [pytest.param(ALWAYS, id="offloaded"), pytest.param(NEVER, id="inline")]


def outputs_of(index: int) -> str:
    return layout.outputs(AttemptKey(EXECUTION, "n1", 0, index))


@pytest.mark.parametrize("limits", BOTH)
async def test_failed_elements_keep_their_places(limits: OffloadLimits) -> None:
    blobs = MemoryBlobs()
    values = [n * n for n in range(10)]
    elements = await finished_map(blobs, values, failed=[3, 4, 8, 9])
    uri = await gather(blobs, limits, gathering(SQUARES, elements))
    assert values_of(blobs.objects[uri], blobs) == {"o0": [0, 1, 4, None, None, 25, 36, 49, None, None]}


@pytest.mark.parametrize("limits", BOTH)
async def test_no_elements_make_a_list_without_items(limits: OffloadLimits) -> None:
    blobs = MemoryBlobs()
    uri = await gather(blobs, limits, gathering(SQUARES, arrays.created(0)))
    found = parsed(blobs.objects[uri])["o0"]
    if limits is NEVER:
        assert found.WhichOneof("value") == "collection"
    assert values_of(blobs.objects[uri], blobs) == {"o0": []}


async def test_no_outputs_make_an_empty_map() -> None:
    blobs = MemoryBlobs()
    elements = await finished_map(blobs, [1, 2])
    uri = await gather(blobs, ALWAYS, gathering(SILENT, structs.replace(elements, output_bytes={})))
    assert blobs.objects[uri] == b""


async def test_the_last_attempt_of_an_element_counts() -> None:
    blobs = MemoryBlobs()
    elements = await finished_map(blobs, [1, 2])
    elements = arrays.with_element(elements, 1, NodePhase.SUCCEEDED, attempt=2)
    await put(blobs, layout.outputs(AttemptKey(EXECUTION, "n1", 2, 1)), serialized(o0=9))
    uri = await gather(blobs, NEVER, gathering(SQUARES, elements))
    assert values_of(blobs.objects[uri]) == {"o0": [1, 9]}


@pytest.mark.parametrize(
    ("left", "reason"),
    [
        (None, "no object at memory://store/metadata/propeller/p-d-e1/n1/data/0/2/0/outputs.pb"),
        (serialized(o1=9), "it is not there"),
        (serialized(o0="abc")[:-1], "the field at byte 0 says 15 bytes, 14 are left"),
    ],
)
async def test_an_element_without_its_output_is_named(left: bytes | None, reason: str) -> None:
    blobs = MemoryBlobs()
    elements = await finished_map(blobs, [1, 2, 3, 4])
    uri = blobs.uri(outputs_of(2))
    await (blobs.delete(uri) if left is None else blobs.put(uri, left))
    with pytest.raises(Permanent) as problem:
        await gather(blobs, ALWAYS, gathering(SQUARES, elements))
    failure = problem.value.failure
    assert (failure.code, failure.kind, failure.node) == ("OutputsNotFound", ErrorKind.SYSTEM, "n1[2]")
    assert failure.message == f"element 2 of 4 has no readable output 'o0' in {uri}: {reason}"
    assert not [name for name in blobs.objects if "/n1/data/0/o" in name]


@pytest.mark.parametrize("limits", BOTH)
@pytest.mark.parametrize("said", [0, 5, 10_000])
async def test_sizes_that_do_not_add_up_are_measured_again(limits: OffloadLimits, said: int) -> None:
    blobs = MemoryBlobs()
    elements = structs.replace(await finished_map(blobs, [1, 2, 3]), output_bytes={"o0": said})
    uri = await gather(blobs, limits, gathering(SQUARES, elements))
    assert values_of(blobs.objects[uri], blobs) == {"o0": [1, 2, 3]}


class Growing(MemoryBlobs):
    """Element 0 is another one at every read."""

    async def get_many(self, uris: Sequence[str], end: int | None = None) -> list[bytes | None]:
        found = await super().get_many(uris, end)
        for uri, data in zip(uris, found, strict=True):
            self.objects[uri] = serialized(o0="x" * len(data or b""))
        return found


async def test_outputs_that_change_all_the_time_are_tried_again_later_and_nothing_is_written() -> None:
    blobs = Growing()
    elements = structs.replace(await finished_map(blobs, [1, 2]), output_bytes={"o0": 3})
    with pytest.raises(Transient, match="were expected"):
        await gather(blobs, NEVER, gathering(SQUARES, elements))
    assert not [name for name in blobs.objects if name.endswith("/n1/data/0/outputs.pb")]


async def test_several_outputs_are_gathered_each() -> None:
    blobs = MemoryBlobs()
    pair = mapped(task("pair", interface({"a": INT}, {"x": INT, "y": INT})))
    elements = await finished_map(blobs, [0, 0, 0], "x")
    for index in range(3):
        await put(blobs, outputs_of(index), serialized(x=index, y="y" * 100))
    sizes = {"x": elements.output_bytes["x"], "y": 3 * 106}
    limits = structs.replace(ALWAYS, min_size=200)
    uri = await gather(blobs, limits, gathering(pair, structs.replace(elements, output_bytes=sizes)))
    found = parsed(blobs.objects[uri])
    assert values_of(blobs.objects[uri], blobs) == {"x": [0, 1, 2], "y": ["y" * 100] * 3}
    assert [found[name].WhichOneof("value") for name in "xy"] == ["collection", "offloaded_metadata"]


OR_NONE = types_pb2.LiteralType(
    union_type=types_pb2.UnionType(variants=[INT, types_pb2.LiteralType(simple=types_pb2.NONE)])
)


@pytest.mark.parametrize(("ratio", "item"), [(None, INT), (1.0, INT), (0.5, OR_NONE)])
async def test_a_task_with_its_own_interface_gives_lists_too(ratio: float | None, item: types_pb2.LiteralType) -> None:
    blobs = MemoryBlobs()
    spec: TaskSpec = task("ref")
    array = ArraySpec(original_interface=True, min_success_ratio=ratio)
    uri = await gather(blobs, ALWAYS, gathering(spec, await finished_map(blobs, [1, 2]), array))
    assert values_of(blobs.objects[uri], blobs) == {"o0": [1, 2]}
    assert parsed(blobs.objects[uri])["o0"].offloaded_metadata.inferred_type == list_of(item)


async def test_memory_is_bounded_by_a_batch_however_large_the_elements_are() -> None:
    blobs = RecordingBlobs()
    values = ["a" * 9_000_000, "b", "c" * 3_000_000, "d" * 1_500_000]
    uri = await gather(blobs, ALWAYS, gathering(SQUARES, await finished_map(blobs, values)))
    stored = parsed(blobs.objects[uri])["o0"].offloaded_metadata.uri
    assert blobs.objects[stored] == serialized_literal(literal(values))
    assert max(size for _, size in blobs.reads) <= 4 * 1024 * 1024
    assert blobs.largest_write <= 4 * 1024 * 1024
