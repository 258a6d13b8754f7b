"""S12, S14: every list that is not bound is mapped, lengths must agree, and everything else goes to every element."""

from __future__ import annotations

from typing import Any

import pytest
from flyteidl.core import literals_pb2, types_pb2

from engine.adapters.memory.blobs import MemoryBlobs
from engine.data.elements import element_inputs, prepare_array
from engine.data.gather import gather
from engine.model.effects import PrepareArray, RunElement
from engine.model.errors import ErrorKind, Permanent
from engine.model.graph import START_NODE, ArraySpec, TaskSpec
from engine.model.ids import AttemptKey
from engine.model.limits import IncompatibleRuntime, OffloadLimits
from tests import programs
from tests.dataplane import (
    ALWAYS,
    EXECUTION,
    NEVER,
    ORIGIN,
    Literal,
    finished_map,
    gathering,
    literal,
    packed,
    promise,
    put,
    reference,
    serialized,
    serialized_literal,
    values_of,
)
from tests.literal_types import optional
from tests.programs import INT, STR, interface, list_of, mapped, task

LIST = list_of(INT)


def map_task(**inputs: types_pb2.LiteralType) -> TaskSpec:
    return task("map", interface(inputs, {"o0": LIST}))


async def elements(
    spec: TaskSpec, inputs: dict[str, object], array: ArraySpec | None = None, blobs: MemoryBlobs | None = None
) -> list[dict[str, Any]]:
    """The inputs of every element."""
    blobs = blobs or MemoryBlobs()
    source = await put(blobs, "start/outputs.pb", serialized(**inputs))
    bindings = [promise(name, "", name) for name in inputs]
    node = programs.node("n2", spec.id, bindings=bindings, array=array or ArraySpec())
    key = AttemptKey(EXECUTION, "n2")
    uri, size = await prepare_array(blobs, OffloadLimits(), PrepareArray(key, node, spec, {START_NODE: source}))
    return [
        values_of(
            await element_inputs(blobs, RunElement(AttemptKey(EXECUTION, "n2", 0, k), node, spec, uri, size, ORIGIN)),
            blobs,
        )
        for k in range(size)
    ]


async def refused(spec: TaskSpec, inputs: dict[str, object], array: ArraySpec | None = None) -> str:
    with pytest.raises(Permanent) as problem:
        await elements(spec, inputs, array)
    failure = problem.value.failure
    assert (failure.code, failure.kind, problem.value.recoverable) == ("InvalidArrayLength", ErrorKind.USER, False)
    return failure.message


async def test_a_bound_list_goes_to_every_element_whole() -> None:
    found = await elements(
        map_task(x=LIST, y=LIST), {"x": [1, 2, 3], "y": [7, 8]}, ArraySpec(bound_inputs=frozenset({"x"}))
    )
    assert found == [{"x": [1, 2, 3], "y": [7]}, {"x": [1, 2, 3], "y": [8]}]


async def test_different_lengths_name_both_inputs_and_both_lengths() -> None:
    message = await refused(map_task(a=LIST, b=LIST), {"a": [1, 2, 3], "b": [1]})
    assert message == "input arrays have different lengths: 'a' has 3 items, 'b' has 1 item"


async def test_lists_of_one_length_are_mapped_together_and_the_rest_is_broadcast() -> None:
    found = await elements(
        map_task(a=LIST, b=LIST, c=STR, d=STR), {"a": [1, 2], "b": [3, 4], "c": "c", "d": packed([5])}
    )
    assert found == [{"a": [1], "b": [3], "c": "c", "d": [5]}, {"a": [2], "b": [4], "c": "c", "d": [5]}]


async def test_an_empty_list_makes_no_elements() -> None:
    assert await elements(map_task(a=LIST), {"a": []}) == []


async def test_everything_bound_makes_one_element() -> None:
    found = await elements(map_task(x=LIST), {"x": [1, 2]}, ArraySpec(bound_inputs=frozenset({"x"})))
    assert found == [{"x": [1, 2]}]


async def test_no_list_at_all_is_refused() -> None:
    message = await refused(map_task(x=LIST, c=STR), {"x": [1], "c": "c"}, ArraySpec(bound_inputs=frozenset({"x"})))
    assert message == "no input array provided: none of the inputs that are not bound is a list"


async def test_a_value_that_should_be_a_list_is_named() -> None:
    assert "input 'a' of task map is mapped, but its value is no list" in await refused(map_task(a=LIST), {"a": 5})


async def test_an_optional_list_is_mapped_and_none_is_broadcast() -> None:
    inside = Literal(scalar=literals_pb2.Scalar(union=literals_pb2.Union(value=literal([1, 2]), type=LIST)))
    spec = map_task(a=optional(LIST), b=optional(LIST), c=LIST)
    assert await elements(spec, {"a": inside, "b": None, "c": [3, 4]}) == [
        {"a": [1], "b": None, "c": [3]},
        {"a": [2], "b": None, "c": [4]},
    ]


async def test_items_themselves_go_to_a_task_with_its_own_interface() -> None:
    found = await elements(task("ref"), {"a": [5, 6]}, ArraySpec(original_interface=True))
    assert found == [{"a": 5}, {"a": 6}]


@pytest.mark.parametrize("limits", [ALWAYS, NEVER])
async def test_a_map_over_a_maps_output(limits: OffloadLimits) -> None:
    blobs = MemoryBlobs()
    uri = await gather(blobs, limits, gathering(mapped(task("sq")), await finished_map(blobs, [1, 4, 9])))
    m = literals_pb2.LiteralMap.FromString(blobs.objects[uri]).literals["o0"]
    before = dict(blobs.objects)
    assert await elements(map_task(a=LIST), {"a": m}, blobs=blobs) == [{"a": [1]}, {"a": [4]}, {"a": [9]}]
    assert {name: blobs.objects[name] for name in before} == before


@pytest.mark.parametrize("kind", [None, LIST, optional(LIST)])
async def test_a_list_that_flytekit_offloaded_has_no_index_and_is_mapped_all_the_same(
    kind: types_pb2.LiteralType | None,
) -> None:
    blobs = MemoryBlobs()
    stored = reference(await put(blobs, "a/o0_offloaded_metadata.pb", serialized_literal([7, 8])), 9, kind)
    assert await elements(map_task(a=LIST), {"a": stored}, blobs=blobs) == [{"a": [7]}, {"a": [8]}]


async def test_an_index_that_does_not_belong_to_the_list_is_not_believed() -> None:
    blobs = MemoryBlobs()
    stored = reference(await put(blobs, "a/o0_offloaded_metadata.pb", serialized_literal([7, 8])), 9)
    await put(blobs, "a/o0_offloaded_index.bin", (2).to_bytes(8, "little") + (99).to_bytes(8, "little"))
    assert await elements(map_task(a=LIST), {"a": stored}, blobs=blobs) == [{"a": [7]}, {"a": [8]}]


async def test_an_offloaded_value_that_is_no_list_is_broadcast_where_the_type_allows_it() -> None:
    blobs = MemoryBlobs()
    stored = reference(await put(blobs, "b.pb", serialized_literal("b")), 3, STR)
    assert await elements(map_task(a=LIST, b=STR), {"a": [1], "b": stored}, blobs=blobs) == [{"a": [1], "b": "b"}]
    assert "'a' of task map is mapped, but its value is no list" in await refused(map_task(a=LIST), {"a": stored})


async def test_an_offloaded_list_that_is_gone_is_a_verdict() -> None:
    with pytest.raises(Permanent, match=r"memory://store/gone\.pb could not be read"):
        await elements(map_task(a=LIST), {"a": reference("memory://store/gone.pb")})


async def test_an_old_task_may_be_refused_before_any_element_starts() -> None:
    blobs = MemoryBlobs()
    limits = OffloadLimits(incompatible_runtime=IncompatibleRuntime.FAIL)
    source = await put(blobs, "start/outputs.pb", serialized(a=reference("memory://store/a.pb")))
    old = task("old", interface({"a": LIST}, {}), version="1.13.0")
    node = programs.node("n2", old.id, bindings=[promise("a", "", "a")], array=ArraySpec())
    with pytest.raises(Permanent, match="LiteralOffloadingNotSupported"):
        await prepare_array(blobs, limits, PrepareArray(AttemptKey(EXECUTION, "n2"), node, old, {START_NODE: source}))
