"""The failure node of a workflow: not among its nodes, waiting for nothing, and told the failure by its input `err`."""

from __future__ import annotations

import pytest
from flyteidl.core import workflow_pb2
from flyteidl.core.types_pb2 import ERROR, LiteralType

from engine.model.graph import END_NODE, START_NODE, Graph, NodeKind
from tests.literal_types import INT, STR, optional
from tests.packages import Entity, calls, complaints, constant, given, graph_of, node, output, plan, task, workflow

T = task("m.t")
FAILURE = optional(LiteralType(simple=ERROR))


def cleaned(failure: workflow_pb2.Node) -> Entity:
    spec = workflow("m.w", node("n0", {"a": given("n")}))
    spec.template.failure_node.CopyFrom(failure)
    return spec


def built(failure: workflow_pb2.Node, *entities: Entity) -> Graph:
    return graph_of(T, cleaned(failure), *entities)


def test_it_stands_beside_the_nodes() -> None:
    graph = built(node("fn0", {"a": given("n")}))
    assert set(graph.nodes) == {START_NODE, "n0", END_NODE}
    assert graph.downstream == {START_NODE: ("n0",), "n0": (END_NODE,), END_NODE: ()}
    assert graph.failure is not None
    assert (graph.failure.id, graph.failure.kind, graph.failure.upstream) == ("fn0", NodeKind.TASK, ())
    assert (graph.failure.sources, graph.error_input) == ((START_NODE,), "")


def test_it_may_run_a_workflow_or_a_launch_plan() -> None:
    sub = workflow("m.sub", node("n0", {"a": given("n")}))
    for made, kind in (
        (calls("fn0", {"n": given("n")}, workflow="m.sub"), NodeKind.SUBWORKFLOW),
        (calls("fn0", {"n": given("n")}, plan="m.plan"), NodeKind.LAUNCH_PLAN),
    ):
        failure = built(made, sub, plan("m.plan", sub)).failure
        assert failure is not None
        assert failure.kind is kind


@pytest.mark.parametrize(
    ("name", "kind", "bound", "expected"),
    [
        ("err", FAILURE, True, "err"),
        ("err", FAILURE, False, ""),
        ("err", optional(STR), True, ""),
        ("err", INT, True, ""),
        ("error", FAILURE, True, ""),
    ],
)
def test_only_an_optional_failure_of_the_right_name_is_told(
    name: str, kind: LiteralType, bound: bool, expected: str
) -> None:
    value = constant(1) if kind == INT else constant(None)
    takes = task("m.clean", {name: kind})
    assert built(node("fn0", {name: value} if bound else {}, runs="m.clean"), takes).error_input == expected


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (node("n0", {"a": given("n")}), ", node n0: its failure node has the id of another node"),
        (node("a b", {"a": given("n")}), ": the node id 'a b' may hold only letters, digits, '.', '_' and '-'"),
        (node("fn0", {"a": output("n0")}), ", node fn0: input 'a' takes 'o0' from node n0, which does not exist"),
        (
            node("fn0", {"a": given("n")}, after=["n0"]),
            ", node fn0: it waits for node n0, but a failure node waits for none",
        ),
        (node("fn0"), ", node fn0: input 'a' (int) is required, but nothing is bound to it"),
        (
            node("fn0", {"a": given("n")}, runs="m.gone"),
            ", node fn0: it runs the task m.gone, which is not in the package",
        ),
    ],
)
def test_what_is_wrong_with_it(failure: workflow_pb2.Node, expected: str) -> None:
    assert complaints(T, cleaned(failure)) == [f"workflow m.w{expected}"]
