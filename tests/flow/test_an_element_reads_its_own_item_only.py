"""N elements read N items, not N lists: from an inline list and from an offloaded one, with an index or without."""

from __future__ import annotations

import asyncio

import pytest

from engine.data import elements as elements_room
from engine.data.elements import element_inputs, prepare_array
from engine.data.gather import gather
from engine.data.shelf import Shelf
from engine.data.stored import BLOCK
from engine.model.effects import PrepareArray, RunElement
from engine.model.errors import Permanent
from engine.model.graph import START_NODE, ArraySpec
from engine.model.ids import AttemptKey
from engine.model.limits import OffloadLimits
from tests import programs
from tests.dataplane import (
    ALWAYS,
    EXECUTION,
    NEVER,
    ORIGIN,
    RecordingBlobs,
    finished_map,
    gathering,
    parsed,
    promise,
    put,
    serialized,
    values_of,
)
from tests.programs import STR, interface, list_of, mapped, task

SPEC = task("map", interface({"a": list_of(STR)}, {"o0": list_of(STR)}))
NODE = programs.node("n2", SPEC.id, bindings=[promise("a", "n1")], array=ArraySpec())
KEY = AttemptKey(EXECUTION, "n2")


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elements_room, "_shelf", Shelf(most_bytes=32 * 1024 * 1024))


def element(uri: str, index: int, size: int) -> RunElement:
    return RunElement(AttemptKey(EXECUTION, "n2", 0, index), NODE, SPEC, uri, size, ORIGIN)


async def prepared(blobs: RecordingBlobs, values: list[str], limits: OffloadLimits) -> tuple[str, int, str]:
    """The stored array inputs, their size, and where the list lies."""
    source = await gather(blobs, limits, gathering(mapped(task("t")), await finished_map(blobs, values)))
    uri, size = await prepare_array(blobs, limits, PrepareArray(KEY, NODE, SPEC, {"n1": source}))
    found = parsed(blobs.objects[source])["o0"]
    return uri, size, found.offloaded_metadata.uri or uri


@pytest.mark.parametrize("limits", [ALWAYS, NEVER], ids=["offloaded", "inline"])
async def test_small_items_come_in_blocks(limits: OffloadLimits) -> None:
    blobs = RecordingBlobs()
    values = [f"{n:0100d}" for n in range(5_000)]
    uri, size, where = await prepared(blobs, values, limits)
    blobs.reads = []
    found = [values_of(await element_inputs(blobs, element(uri, k, size)))["a"] for k in range(size)]
    assert found == [[value] for value in values]
    list_bytes = len(blobs.objects[where])
    assert sum(blobs.reads_of(where)) <= 1.1 * list_bytes
    assert len(blobs.reads) <= list_bytes // BLOCK + 2


@pytest.mark.parametrize("limits", [ALWAYS, NEVER], ids=["offloaded", "inline"])
async def test_a_large_item_is_one_ranged_read(limits: OffloadLimits) -> None:
    blobs = RecordingBlobs()
    values = ["x" * 600_000, "y" * 700_000, "z" * 800_000]
    uri, size, where = await prepared(blobs, values, limits)
    blobs.reads = []
    for index in (2, 0, 1):
        found = await element_inputs(blobs, element(uri, index, size))
        assert values_of(found)["a"] == [values[index]]
    assert [size // 100_000 for size in blobs.reads_of(where)] == [8, 6, 7]
    assert len(blobs.reads) == 3


async def test_elements_that_start_at_once_after_a_restart_share_one_look_at_the_array() -> None:
    blobs = RecordingBlobs()
    values = [str(n) for n in range(200)]
    uri, size, _ = await prepared(blobs, values, ALWAYS)
    elements_room._shelf = Shelf(most_bytes=32 * 1024 * 1024)
    blobs.reads = []
    found = await asyncio.gather(*(element_inputs(blobs, element(uri, k, size)) for k in range(size)))
    assert [values_of(data)["a"] for data in found] == [[value] for value in values]
    assert len(blobs.reads) == 3, "inputs.pb, the index, the list"


async def test_a_list_without_an_index_is_scanned_once_and_the_values_in_it_are_not_read() -> None:
    blobs = RecordingBlobs()
    values = ["x" * 3_000_000, "y" * 3_000_000]
    uri, size, where = await prepared(blobs, values, ALWAYS)
    del blobs.objects[where.replace("_metadata.pb", "_index.bin")]
    elements_room._shelf = Shelf(most_bytes=32 * 1024 * 1024)
    blobs.reads = []
    for index in range(size):
        assert values_of(await element_inputs(blobs, element(uri, index, size)))["a"] == [values[index]]
    assert sum(blobs.reads_of(where)) <= 6_000_000 + 4 * BLOCK


async def test_an_array_that_is_prepared_again_with_other_inputs_is_not_mixed_up() -> None:
    blobs = RecordingBlobs()
    for values in (["a", "b"], ["c", "d"]):
        uri, size, _ = await prepared(blobs, values, NEVER)
        assert values_of(await element_inputs(blobs, element(uri, 1, size)))["a"] == values[1:]


async def test_what_does_not_fit_on_the_shelf_is_read_again() -> None:
    elements_room._shelf = Shelf(most_bytes=10)
    blobs = RecordingBlobs()
    uri, size, _ = await prepared(blobs, ["a", "b"], NEVER)
    assert values_of(await element_inputs(blobs, element(uri, 1, size)))["a"] == ["b"]


async def test_inputs_that_are_gone_are_a_verdict() -> None:
    with pytest.raises(Permanent, match="the inputs of element 0 can't be read: no object at"):
        await element_inputs(RecordingBlobs(), element("memory://store/gone.pb", 0, 1))


async def test_bound_inputs_are_whole_beside_the_item() -> None:
    blobs = RecordingBlobs()
    spec = task("map", interface({"a": list_of(STR), "b": list_of(STR)}, {}))
    array = ArraySpec(bound_inputs=frozenset({"b"}))
    node = programs.node("n2", spec.id, bindings=[promise("a", "", "a"), promise("b", "", "b")], array=array)
    big = ["b" * 400_000]
    source = await put(blobs, "start/outputs.pb", serialized(a=["x", "y"], b=big))
    uri, size = await prepare_array(blobs, OffloadLimits(), PrepareArray(KEY, node, spec, {START_NODE: source}))
    effect = RunElement(AttemptKey(EXECUTION, "n2", 0, 1), node, spec, uri, size, ORIGIN)
    assert values_of(await element_inputs(blobs, effect)) == {"a": ["y"], "b": big}
