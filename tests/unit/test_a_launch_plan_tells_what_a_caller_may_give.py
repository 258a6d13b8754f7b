"""Fixed inputs can't be given, defaults may be left out, everything else is required."""

from __future__ import annotations

from flyteidl.core.literals_pb2 import Literal, LiteralMap

from engine.model.graph import LaunchPlanSpec
from tests.literal_types import INT, STR
from tests.packages import Entity, compiled, complaints, given, literal, plan, plan_id, workflow, workflow_id

FLOW = workflow("m.w", inputs={"a": INT, "b": STR, "c": INT}, gives={"o0": (STR, given("b"))})


def spec_of(*entities: Entity, name: str = "m.plan") -> LaunchPlanSpec:
    return compiled(*entities).program.launch_plans[plan_id(name)]


def values(data: bytes) -> dict[str, Literal]:
    return dict(LiteralMap.FromString(data).literals)


def test_inputs_are_split() -> None:
    spec = spec_of(FLOW, plan("m.plan", FLOW, defaults={"a": 7}, fixed={"c": 8}))
    assert spec.workflow == workflow_id("m.w")
    assert dict(spec.interface.inputs) == {"a": INT.SerializeToString(), "b": STR.SerializeToString()}
    assert dict(spec.interface.outputs) == {"o0": STR.SerializeToString()}
    assert values(spec.defaults) == {"a": literal(7)}
    assert values(spec.fixed) == {"c": literal(8)}


def test_a_fixed_input_has_no_default() -> None:
    spec = spec_of(FLOW, plan("m.plan", FLOW, defaults={"c": 7}, fixed={"c": 8}))
    assert (values(spec.defaults), values(spec.fixed)) == ({}, {"c": literal(8)})


def test_values_must_be_inputs_of_the_workflow_and_have_their_type() -> None:
    assert complaints(FLOW, plan("m.plan", FLOW, defaults={"a": "x", "y": 1}, fixed={"z": 2, "b": 3})) == [
        "launch plan m.plan: default input 'a' is str, but the workflow expects int",
        "launch plan m.plan: default input 'y' is no input of its workflow, which has: a, b, c",
        "launch plan m.plan: fixed input 'b' is int, but the workflow expects str",
        "launch plan m.plan: fixed input 'z' is no input of its workflow, which has: a, b, c",
    ]
