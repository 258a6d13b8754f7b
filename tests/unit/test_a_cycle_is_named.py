"""Nodes that wait for each other, and workflows that contain themselves, would never end."""

from __future__ import annotations

from flyteidl.admin.workflow_pb2 import WorkflowSpec

from tests.packages import calls, complaints, given, node, plan, task, workflow


def ring(size: int) -> WorkflowSpec:
    nodes = [node(f"n{i}", {"a": given("n")}, after=[f"n{(i + 1) % size}"]) for i in range(size)]
    return workflow("m.w", *nodes, node("free", {"a": given("n")}), node("behind", {"a": given("n")}, after=["n0"]))


def test_the_nodes_of_a_cycle() -> None:
    assert complaints(task("m.t"), ring(3)) == [
        "workflow m.w: its nodes wait for each other in a cycle: n0 -> n1 -> n2 -> n0"
    ]


def test_a_node_that_waits_for_itself() -> None:
    assert complaints(task("m.t"), ring(1)) == ["workflow m.w: node n0 waits for itself"]


def test_a_long_cycle_is_shortened() -> None:
    (problem,) = complaints(task("m.t"), ring(200))
    assert problem.endswith("n0 -> n1 -> n2 -> n3 -> n4 -> n5 -> n6 -> n7 -> n8 -> n9 ... (200 nodes)")


def test_several_cycles_are_all_named() -> None:
    pairs = [
        node(f"{side}{i}", {"a": given("n")}, after=[f"{other}{i}"])
        for i in range(3)
        for side, other in (("a", "b"), ("b", "a"))
    ]
    assert complaints(task("m.t"), workflow("m.w", *pairs)) == [
        f"workflow m.w: its nodes wait for each other in a cycle: a{i} -> b{i} -> a{i}" for i in range(3)
    ]


def test_a_workflow_that_contains_itself() -> None:
    assert complaints(
        workflow("m.a", calls("n0", workflow="m.b"), inputs={}), workflow("m.b", calls("n0", workflow="m.a"), inputs={})
    ) == ["workflow m.a: it contains itself as a sub-workflow: m.a -> m.b -> m.a"]


def test_a_workflow_may_start_itself_through_a_launch_plan() -> None:
    spec = workflow("m.w", calls("n0", {"n": given("n")}, plan="m.w"))
    assert complaints(spec, plan("m.w", spec)) == []
