"""Everything that is wrong with a package is told at once, each with the entity's name and the node's id."""

from __future__ import annotations

import pytest
from flyteidl.core import workflow_pb2

from engine.model.graph import END_NODE, START_NODE
from tests.literal_types import INT, STR, list_of, optional
from tests.packages import (
    Entity,
    calls,
    complaints,
    constant,
    given,
    items,
    node,
    output,
    plan,
    task,
    workflow,
)

T = task("m.t")
SUB = workflow("m.sub", node("n0", {"a": given("n")}), gives={"o0": (INT, output("n0"))})
GOOD = node("n0", {"a": given("n")})


UNBOUND = workflow("m.w", gives={"o0": (INT, given("n"))})
del UNBOUND.template.outputs[:]


def flow(*nodes: workflow_pb2.Node) -> Entity:
    return workflow("m.w", *nodes)


CASES: dict[str, tuple[list[Entity], list[str]]] = {
    "a task that is not there": (
        [flow(node("n0", {"a": given("n")}, runs="m.gone"))],
        ["workflow m.w, node n0: it runs the task m.gone, which is not in the package"],
    ),
    "a sub-workflow that is not there": (
        [flow(calls("n0", workflow="m.gone"))],
        ["workflow m.w, node n0: it runs the workflow m.gone, which is not in the package"],
    ),
    "a launch plan that is not there": (
        [flow(calls("n0", plan="gone"))],
        ["workflow m.w, node n0: it runs the launch plan gone, which is not in the package"],
    ),
    "a launch plan without its workflow": (
        [T, plan("m.plan", SUB)],
        ["launch plan m.plan: it runs the workflow m.sub, which is not in the package"],
    ),
    "a node that runs nothing": (
        [flow(workflow_pb2.Node(id="n0"))],
        ["workflow m.w, node n0: it runs nothing: neither task nor workflow"],
    ),
    "two nodes with one id": (
        [T, flow(GOOD, GOOD)],
        ["workflow m.w, node n0: two nodes of this workflow have this id"],
    ),
    "an id that is the engine's": (
        [T, flow(node(END_NODE, {"a": given("n")}))],
        ["workflow m.w, node end-node: this id is the engine's own; give the node another name"],
    ),
    "an id that is no path segment": (
        [T, flow(node("a/b", {"a": given("n")}))],
        ["workflow m.w: the node id 'a/b' may hold only letters, digits, '.', '_' and '-'"],
    ),
    "an upstream node that does not exist": (
        [T, flow(node("n0", {"a": given("n")}, after=["n9"]))],
        ["workflow m.w, node n0: it waits for node n9, which does not exist"],
    ),
    "a promise on a node that does not exist": (
        [T, flow(node("n0", {"a": output("n9")}))],
        ["workflow m.w, node n0: input 'a' takes 'o0' from node n9, which does not exist"],
    ),
    "a promise on an output that does not exist": (
        [T, flow(GOOD, node("n1", {"a": output("n0", "o7")}))],
        ["workflow m.w, node n1: input 'a' takes 'o7' from node n0, which gives only o0"],
    ),
    "a promise on a workflow input that does not exist": (
        [T, flow(node("n0", {"a": given("k")}))],
        ["workflow m.w, node n0: input 'a' takes the workflow's input 'k', which does not exist; there is n"],
    ),
    "a promise on itself": (
        [T, flow(node("n0", {"a": output("n0")}))],
        [
            "workflow m.w, node n0: input 'a' takes 'o0' from its own node n0",
            "workflow m.w: node n0 waits for itself",
        ],
    ),
    "a promise inside a list": (
        [task("m.t", {"a": list_of(INT)}), flow(node("n0", {"a": items(constant(1), output("n9"))}))],
        ["workflow m.w, node n0: input 'a' takes 'o0' from node n9, which does not exist"],
    ),
    "a required input without a binding": (
        [T, flow(node("n0"))],
        ["workflow m.w, node n0: input 'a' (int) is required, but nothing is bound to it"],
    ),
    "a binding of an input that does not exist": (
        [T, flow(node("n0", {"a": given("n"), "z": given("n")}))],
        ["workflow m.w, node n0: input 'z' does not exist; there is a"],
    ),
    "an input bound twice": (
        [T, flow(workflow_pb2.Node(id="n0", inputs=[*GOOD.inputs, *GOOD.inputs], task_node=GOOD.task_node))],
        ["workflow m.w, node n0: input 'a' is bound twice"],
    ),
    "a promise of another type": (
        [T, task("m.text", {}, {"o0": STR}), flow(node("n0", runs="m.text"), node("n1", {"a": output("n0")}))],
        ["workflow m.w, node n1: input 'a' is given str by output 'o0' of node n0, but expects int"],
    ),
    "a workflow input of another type": (
        [task("m.t", {"a": STR}), flow(GOOD)],
        ["workflow m.w, node n0: input 'a' is given int by the workflow's input 'n', but expects str"],
    ),
    "a constant of another type": (
        [T, flow(node("n0", {"a": constant("x")}))],
        ["workflow m.w, node n0: input 'a' is given str, but expects int"],
    ),
    "a list with an item of another type": (
        [task("m.t", {"a": list_of(INT)}), flow(node("n0", {"a": items(given("n"), constant(1.5))}))],
        ["workflow m.w, node n0: input 'a' is given list[int | float], but expects list[int]"],
    ),
    "an output that is bound to nothing": (
        [UNBOUND],
        ["workflow m.w: output 'o0' (int) is required, but nothing is bound to it"],
    ),
    "an output of another type": (
        [workflow("m.w", gives={"o0": (STR, given("n"))})],
        ["workflow m.w: output 'o0' is given int by the workflow's input 'n', but expects str"],
    ),
    "an output from a node that does not exist": (
        [workflow("m.w", gives={"o0": (INT, output("n4"))})],
        ["workflow m.w: output 'o0' takes 'o0' from node n4, which does not exist"],
    ),
    "a fixed input of a launch plan, bound": (
        [T, SUB, plan("m.plan", SUB, fixed={"n": 1}), flow(calls("n0", {"n": given("n")}, plan="m.plan"))],
        ["workflow m.w, node n0: input 'n' does not exist; there is none"],
    ),
    "a required input of a launch plan, not bound": (
        [T, SUB, plan("m.plan", SUB), flow(calls("n0", plan="m.plan"))],
        ["workflow m.w, node n0: input 'n' (int) is required, but nothing is bound to it"],
    ),
    "two definitions of one task": (
        [T, task("m.t", {"b": INT})],
        ["task m.t: the package holds two different definitions of it"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_problem_names_entity_and_node(name: str) -> None:
    entities, expected = CASES[name]
    assert complaints(*entities) == expected


def test_all_of_them_are_reported_at_once() -> None:
    problems = complaints(
        T,
        SUB,
        plan("m.plan", SUB, defaults={"n": "x"}),
        workflow("m.v", node("n0", runs="m.gone"), node("n1"), node("n1")),
        workflow("m.w", node("n0", {"a": output("n9")}), gives={"o0": (STR, given("n"))}),
    )
    assert problems == [
        "launch plan m.plan: default input 'n' is str, but the workflow expects int",
        "workflow m.v, node n1: two nodes of this workflow have this id",
        "workflow m.v, node n0: it runs the task m.gone, which is not in the package",
        "workflow m.v, node n1: input 'a' (int) is required, but nothing is bound to it",
        "workflow m.w, node n0: input 'a' takes 'o0' from node n9, which does not exist",
        "workflow m.w: output 'o0' is given int by the workflow's input 'n', but expects str",
    ]


def test_what_is_sound_is_not_reported() -> None:
    start = workflow_pb2.Node(id="n2", inputs=GOOD.inputs, task_node=GOOD.task_node)
    start.inputs[0].binding.promise.node_id = START_NODE
    assert (
        complaints(
            T,
            task("m.opt", {"a": optional(INT)}),
            SUB,
            plan("m.plan", SUB, defaults={"n": 4}),
            workflow(
                "m.w",
                GOOD,
                node("n1", runs="m.opt"),
                start,
                calls("n3", plan="m.plan"),
                calls("n4", {"n": output("n3")}, plan="m.plan"),
            ),
        )
        == []
    )
