from __future__ import annotations

from pathlib import Path

from flyteidl.core.literals_pb2 import LiteralMap
from msgspec import structs

from engine.model.graph import Graph, Interface, LaunchPlanSpec
from engine.model.ids import EntityId, EntityKind
from engine.wire.inputs import InputHelp, describe_inputs, inputs_for, read_inputs_file
from engine.wire.literals import to_literal
from engine.wire.natural import natural_map
from tests.literal_types import FLOAT, INT, STR, list_of, optional

WORKFLOW = EntityId(EntityKind.WORKFLOW, "p", "d", "m.wf", "v1")
PLAN = LaunchPlanSpec(
    id=EntityId(EntityKind.LAUNCH_PLAN, "p", "d", "m.lp", "v1"),
    workflow=WORKFLOW,
    interface=Interface(
        inputs={
            name: declared.SerializeToString()
            for name, declared in {"rate": FLOAT, "xs": list_of(INT), "name": STR, "note": optional(STR)}.items()
        }
    ),
    defaults=LiteralMap(
        literals={"rate": to_literal(0.5, FLOAT, ""), "note": to_literal(None, optional(STR), "")}
    ).SerializeToString(),
    fixed=LiteralMap(literals={"mode": to_literal("fast", STR, "")}).SerializeToString(),
)


def test_defaults_fill_what_is_not_given() -> None:
    data = inputs_for(PLAN, {"xs": "[1, 2]", "name": "n"})
    assert natural_map(data) == {"mode": "fast", "name": "n", "note": None, "rate": 0.5, "xs": [1, 2]}


def test_given_values_win_over_defaults() -> None:
    data = inputs_for(PLAN, {"xs": [], "name": "n", "rate": 2, "note": "hello"})
    assert natural_map(data) == {"mode": "fast", "name": "n", "note": "hello", "rate": 2.0, "xs": []}


def test_a_fixed_input_wins_over_a_default_of_its_name() -> None:
    mode = LiteralMap(literals={"mode": to_literal("slow", STR, "")}).SerializeToString()
    plan = structs.replace(PLAN, defaults=PLAN.defaults + mode)
    assert natural_map(inputs_for(plan, {"xs": "[]", "name": "n"}))["mode"] == "fast"


def test_the_order_of_the_given_does_not_change_the_bytes() -> None:
    names = [f"input{number}" for number in range(20)]
    graph = Graph(
        id=WORKFLOW,
        interface=Interface(inputs={name: INT.SerializeToString() for name in names}),
        nodes={},
        downstream={},
    )
    assert inputs_for(graph, dict.fromkeys(names, "1")) == inputs_for(graph, dict.fromkeys(reversed(names), "1"))


def test_a_string_of_an_inputs_file_stays_one_where_text_would_be_nothing(tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text('{"xs": [], "name": "n", "note": "null"}')
    assert natural_map(inputs_for(PLAN, read_inputs_file(tmp_path / "in.json")))["note"] == "null"
    assert natural_map(inputs_for(PLAN, {"xs": [], "name": "n", "note": "null"}))["note"] is None


def test_a_bare_workflow_has_no_defaults() -> None:
    graph = Graph(id=WORKFLOW, interface=Interface(inputs={"n": INT.SerializeToString()}), nodes={}, downstream={})
    assert natural_map(inputs_for(graph, {"n": "3"})) == {"n": 3}
    assert describe_inputs(graph) == [InputHelp(name="n", type="int", required=True)]


def test_help_lists_required_inputs_first_and_no_fixed_ones() -> None:
    assert describe_inputs(PLAN) == [
        InputHelp(name="name", type="str", required=True),
        InputHelp(name="xs", type="list[int]", required=True),
        InputHelp(name="note", type="str | None", required=False, default=None),
        InputHelp(name="rate", type="float", required=False, default=0.5),
    ]
