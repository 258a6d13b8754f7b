"""Concurrency, success criterion and bound inputs of a map, as flytekit writes them."""

from __future__ import annotations

import struct

from flyteidl.core import workflow_pb2

from engine.model.graph import ArraySpec, NodeKind
from tests.literal_types import INT, list_of, optional
from tests.packages import (
    calls,
    compiled,
    complaints,
    given,
    graph_of,
    map_node,
    node,
    output,
    plan,
    task,
    task_id,
    workflow,
    workflow_id,
)

MAP_TASK = task("m.map", {"a": list_of(INT)}, {"o0": list_of(INT)})
LIST = {"ns": list_of(INT)}


def spec_of(made: workflow_pb2.Node) -> ArraySpec:
    found = graph_of(MAP_TASK, workflow("m.w", made, inputs=LIST)).nodes["n0"]
    assert (found.kind, found.target) == (NodeKind.ARRAY, task_id("m.map"))
    assert found.array is not None
    return found.array


def mapped() -> workflow_pb2.Node:
    return map_node("n0", {"a": given("ns")}, runs="m.map")


def test_by_default_every_element_must_succeed() -> None:
    assert spec_of(mapped()) == ArraySpec(min_success_ratio=1.0)


def test_unsaid_and_unlimited_concurrency_differ() -> None:
    made = mapped()
    assert spec_of(made).parallelism is None
    made.array_node.parallelism = 0
    assert spec_of(made).parallelism == 0
    made.array_node.parallelism = 3
    assert spec_of(made).parallelism == 3


def test_a_ratio_is_the_float32_of_the_message() -> None:
    (float32,) = struct.unpack("f", struct.pack("f", 0.6))
    made = map_node("n0", {"a": given("ns")}, runs="m.map", ratio=0.6)
    assert spec_of(made) == ArraySpec(min_success_ratio=float32)


def test_a_number_of_successes_stands_in_the_place_of_the_ratio() -> None:
    made = mapped()
    made.array_node.min_successes = 0
    assert spec_of(made) == ArraySpec(min_successes=0)


def test_bound_inputs_must_be_inputs() -> None:
    made = map_node("n0", {"a": given("ns")}, runs="m.map", bound_inputs=["a"])
    assert spec_of(made).bound_inputs == frozenset({"a"})
    made.array_node.bound_inputs.append("z")
    assert complaints(MAP_TASK, workflow("m.w", made, inputs=LIST)) == [
        "workflow m.w, node n0: its bound input z is no input of what it maps over"
    ]


def test_a_ratio_outside_zero_and_one_is_refused() -> None:
    made = map_node("n0", {"a": given("ns")}, runs="m.map", ratio=1.5)
    assert complaints(MAP_TASK, workflow("m.w", made, inputs=LIST)) == [
        "workflow m.w, node n0: its min_success_ratio is 1.5; expected a number from 0 to 1"
    ]


def lifted(ratio: float) -> workflow_pb2.Node:
    """A map over a task or launch plan that keeps its own interface."""
    made = map_node("n0", {"a": given("ns")}, runs="m.t", ratio=ratio)
    made.array_node.is_original_sub_node_interface.value = True
    return made


def test_an_original_interface_is_lifted_to_lists() -> None:
    total = task("m.total", {"xs": list_of(INT)})
    known = task("m.known", {"xs": list_of(optional(INT))})
    strict = workflow("m.w", lifted(1.0), node("n1", {"xs": output("n0")}, runs="m.total"), inputs=LIST)
    found = graph_of(task("m.t"), total, strict).nodes["n0"].array
    assert found is not None
    assert found.original_interface
    tolerant = workflow("m.w", lifted(0.5), node("n1", {"xs": output("n0")}, runs="m.known"), inputs=LIST)
    graph_of(task("m.t"), known, tolerant)
    wrong = workflow("m.w", lifted(0.5), node("n1", {"xs": output("n0")}, runs="m.total"), inputs=LIST)
    assert complaints(task("m.t"), total, wrong) == [
        "workflow m.w, node n1: input 'xs' is given list[int | None] by output 'o0' of node n0, but expects list[int]"
    ]


def test_a_map_over_a_launch_plan_is_a_kind_of_its_own() -> None:
    sub = workflow("m.sub")
    made = workflow_pb2.Node(id="n0", inputs=mapped().inputs)
    made.inputs[0].var = "n"
    made.array_node.node.CopyFrom(calls("inner", {"n": given("ns")}, plan="m.plan"))
    made.array_node.is_original_sub_node_interface.value = True
    result = compiled(sub, plan("m.plan", sub), workflow("m.w", made, inputs=LIST))
    spec = result.program.workflows[workflow_id("m.w")].nodes["n0"]
    assert (spec.kind, spec.detail) == (NodeKind.ARRAY_OF_LAUNCH_PLANS, "a map over the launch plan m.plan")
    assert result.problems == ()


def test_a_map_over_nothing_known_is_refused() -> None:
    made = workflow_pb2.Node(id="n0")
    made.array_node.node.CopyFrom(calls("inner", workflow="m.sub"))
    assert complaints(workflow("m.sub", inputs={}), workflow("m.w", made)) == [
        "workflow m.w, node n0: it maps over something that is neither a task nor a launch plan"
    ]
