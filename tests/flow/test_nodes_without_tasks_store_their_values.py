"""Composite nodes, end-nodes and launch plan nodes: values are resolved and stored, references stay references."""

from __future__ import annotations

import pytest

from engine.adapters.memory.blobs import MemoryBlobs
from engine.data.children import child_inputs
from engine.data.nodes import resolve_and_store, write_outputs
from engine.data.resolve import resolve
from engine.model import layout
from engine.model.errors import ErrorKind, Permanent
from engine.model.graph import START_NODE, Graph, LaunchPlanSpec
from tests.dataplane import EXECUTION, KEY, parsed, promise, put, reference, serialized, values_of
from tests.programs import INT, constant, graph, interface, list_of, plan

WORKFLOW = graph("child", [], face=interface({"a": INT, "b": INT, "xs": list_of(INT)}, {}))


async def test_inputs_and_outputs_lie_in_flytes_places() -> None:
    blobs = MemoryBlobs()
    inputs = await resolve_and_store(blobs, KEY, [constant("a", 1)], {})
    outputs = await write_outputs(blobs, KEY, [constant("o0", 2)], {})
    assert inputs == blobs.uri(layout.node_inputs(EXECUTION, "n1"))
    assert outputs == blobs.uri(layout.outputs(KEY))
    assert values_of(blobs.objects[inputs]) | values_of(blobs.objects[outputs]) == {"a": 1, "o0": 2}


async def test_nothing_is_stored_as_nothing() -> None:
    blobs = MemoryBlobs()
    assert await resolve_and_store(blobs, KEY, [], {}) == ""
    assert await write_outputs(blobs, KEY, [], {START_NODE: ""}) == ""
    assert blobs.objects == {}


async def test_a_reference_is_handed_to_the_caller_as_it_is() -> None:
    blobs = MemoryBlobs()
    source = await put(blobs, "n1/outputs.pb", serialized(o0=reference("memory://store/v.pb", 9)))
    uri = await write_outputs(blobs, KEY, [promise("o0", "n1")], {"n1": source})
    assert parsed(blobs.objects[uri])["o0"].offloaded_metadata.uri == "memory://store/v.pb"


async def child(
    workflow: Graph = WORKFLOW, spec: LaunchPlanSpec | None = None, blobs: MemoryBlobs | None = None
) -> bytes:
    blobs = blobs or MemoryBlobs()
    source = await put(blobs, "n1/outputs.pb", serialized(o0=reference("memory://store/v.pb", 9)))
    spec = spec or plan("lp", workflow, defaults=serialized(a=1, b=2), fixed=serialized(b=3))
    bindings = [constant("b", 20), promise("xs", "n1")]
    return child_inputs(spec, await resolve(blobs, bindings, {"n1": source}))


async def test_a_childs_inputs_are_defaults_then_bindings_then_fixed() -> None:
    found = parsed(await child())
    assert found.pop("xs").offloaded_metadata.size_bytes == 9
    assert {name: value.scalar.primitive.integer for name, value in found.items()} == {"a": 1, "b": 3}


async def test_inputs_that_nobody_gives_are_named() -> None:
    with pytest.raises(Permanent) as problem:
        await child(spec=plan("lp", WORKFLOW))
    failure = problem.value.failure
    assert failure.kind is ErrorKind.USER
    assert failure.message == "launch plan lp can't be started: input 'a' is missing; the node gives b, xs"
