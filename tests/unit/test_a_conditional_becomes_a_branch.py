"""What flytekit writes of a conditional, compiled: arms in order, what each waits for, and what flytekit dropped."""

from __future__ import annotations

import pytest
from flyteidl.core import workflow_pb2
from flyteidl.core.condition_pb2 import BooleanExpression

from engine.model.graph import END_NODE, START_NODE, NodeKind, NodeSpec
from tests.literal_types import INT
from tests.packages import (
    branch,
    complaints,
    condition,
    given,
    graph_of,
    map_node,
    node,
    output,
    task,
    workflow,
)

T = task("m.t")
POSITIVE = condition(".n", "GT", 0)
N0, N1 = node("n0", {"a": given("n")}), node("n1", {"a": given("n")})
DROPPED = (
    "flytekit has dropped a call from it (a task or workflow called inside then(...) or in a condition), which is "
    "not in the package: call it before the conditional and use its result"
)


def built(made: workflow_pb2.Node, *others: workflow_pb2.Node) -> NodeSpec:
    return graph_of(T, workflow("m.w", *others, made)).nodes[made.id]


def test_arms_stand_in_order_and_the_else_arm_last() -> None:
    second = condition("n0.o0", "EQ", 3)
    bindings = {".n": given("n"), "n0.o0": output("n0")}
    spec = built(branch("n3", bindings, (POSITIVE, N0), (second, N1), (None, node("n2", {"a": given("n")}))), N0)
    assert (spec.kind, spec.upstream, spec.sources, spec.detail) == (
        NodeKind.BRANCH,
        ("n0",),
        ("n0", START_NODE),
        "conditional('choice')",
    )
    assert spec.branch is not None
    assert [arm.node for arm in spec.branch.arms] == ["n0", "n1", "n2"]
    assert [BooleanExpression.FromString(arm.condition) for arm in spec.branch.arms[:2]] == [POSITIVE, second]
    assert spec.branch.arms[2].condition == b""
    assert spec.branch.refusal == ""
    assert [body.kind for body in spec.branch.graph.nodes.values()] == [NodeKind.TASK] * 3


def test_the_authors_refusal_is_kept() -> None:
    spec = built(branch("n0", {".n": given("n")}, (POSITIVE, N0), fails="not this one"))
    assert spec.branch is not None
    assert (spec.branch.refusal, [arm.node for arm in spec.branch.arms]) == ("not this one", ["n0"])


def test_each_arm_waits_for_its_own_and_the_branch_hears_of_it() -> None:
    """Ids in an arm mean the graph around the outermost branch: body n0 waits for another node n0."""
    inner = branch("n0", {"n1.o0": output("n1")}, (condition("n1.o0", "GT", 0), node("n0", {"a": output("n2")})))
    inner.branch_node.if_else.error.message = "no"
    outer = branch("n3", {".n": given("n")}, (POSITIVE, inner), (None, node("n1", {"a": output("n0")}, after=["n0"])))
    others = [node(f"n{k}", {"a": given("n")}) for k in range(3)]
    graph = graph_of(T, workflow("m.w", *others, outer, node("n4", {"a": output("n3")})))
    spec = graph.nodes["n3"]
    assert spec.upstream == (START_NODE,)
    assert spec.branch is not None
    nested = spec.branch.graph.nodes["n0"]
    assert nested.branch is not None
    assert (nested.upstream, nested.branch.graph.nodes["n0"].upstream) == (("n1",), ("n2",))
    assert spec.branch.graph.nodes["n1"].upstream == ("n0",)
    assert [graph.downstream[f"n{k}"] for k in range(3)] == [("n3", END_NODE)] * 3
    assert graph.nodes[END_NODE].upstream == ("n0", "n1", "n2", "n4")


def test_bodies_of_one_id_get_ids_of_their_own() -> None:
    made = branch("n0", {".n": given("n")}, (POSITIVE, node("x", {"a": given("n")})), (None, map_node("x", {})))
    taken = branch("n1", {".n": given("n")}, (POSITIVE, node("x", {"a": given("n")})))
    taken.branch_node.if_else.other.add(condition=POSITIVE, then_node=node("x", {"a": given("n")}))
    taken.branch_node.if_else.else_node.CopyFrom(node("x-1", {"a": given("n")}))
    graph = graph_of(task("m.t", {}, {"o0": INT}), workflow("m.w", *map(without_bindings, (made, taken))))
    ids = [[arm.node for arm in spec.branch.arms] for spec in graph.nodes.values() if spec.branch]
    assert ids == [["x", "x-1"], ["x", "x-2", "x-1"]]


def without_bindings(made: workflow_pb2.Node) -> workflow_pb2.Node:
    block = made.branch_node.if_else
    for body in (block.case.then_node, *(other.then_node for other in block.other), block.else_node):
        del body.inputs[:]
    return made


def called(first: str, second: str, promised: str) -> workflow_pb2.Node:
    """The arms have these ids, and the first one takes its input from `promised`."""
    arms = node(first, {"a": output(promised)}, after=[promised]), node(second, {"a": given("n")})
    return branch("n1", {".n": given("n")}, (POSITIVE, arms[0]), (None, arms[1]))


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        # .then(f(a=g(n))): g was n0 inside the conditional; outside there is an n0, or none.
        ([N0, called("n1", "n2", "n0")], [f"workflow m.w, node n1: {DROPPED}"]),
        (
            [called("n1", "n2", "n0")],
            [
                f"workflow m.w, node n1: {DROPPED}",
                "workflow m.w, node n1: body n1: input 'a' takes 'o0' from node n0, which does not exist",
            ],
        ),
        # Each of these is sound: a node outside, an author's own names.
        ([N0, called("n0", "n1", "n0")], []),
        ([N0, called("first", "n1", "n0")], []),
        ([N0, called("n0", "n99999", "n0")], []),
        # Not nested, but wrong all the same.
        (
            [N0, called("n0", "n1", "n1")],
            ["workflow m.w, node n1: body n0: input 'a' takes 'o0' from its own node n1"],
        ),
        (
            [branch("n1", {".n": given("n")}, (POSITIVE, node("n0", {"a": given("n")}, after=["n7"])), fails="no")],
            ["workflow m.w, node n1: body n0: it waits for node n7, which does not exist"],
        ),
        (
            [branch("n1", {".n": given("n")}, (POSITIVE, node("n0", {"a": given("n")}, after=["n1"])), fails="no")],
            ["workflow m.w, node n1: body n0: it waits for its own conditional"],
        ),
        (
            [branch("n1", {".k": given("n")}, (POSITIVE, N0), fails="no")],
            ["workflow m.w, node n1: a condition uses '.n', but nothing is bound to it"],
        ),
        (
            [
                branch("n0", {".n": given("n")}, (POSITIVE, node("n0", {"a": output("n1")})), fails="no"),
                node("n1", {"a": output("n0")}),
            ],
            ["workflow m.w: its nodes wait for each other in a cycle: n0 -> n1 -> n0"],
        ),
    ],
)
def test_what_is_wrong_with_a_conditional(nodes: list[workflow_pb2.Node], expected: list[str]) -> None:
    assert complaints(T, workflow("m.w", *nodes)) == expected


def test_a_call_dropped_from_a_condition() -> None:
    """`.if_(f(n) > 3).then(g(n))`: f was n0, g is n1."""
    made = branch("n2", {"n0.o0": output("n0")}, (condition("n0.o0", "GT", 3), N1), fails="no")
    assert complaints(T, workflow("m.w", N0, made)) == [f"workflow m.w, node n2: {DROPPED}"]
