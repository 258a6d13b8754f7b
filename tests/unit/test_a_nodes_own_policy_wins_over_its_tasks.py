"""Retries, timeout and interruptible: field by field the node's own, else its task's."""

from __future__ import annotations

from flyteidl.admin.task_pb2 import TaskSpec
from flyteidl.core import workflow_pb2

from engine.model.graph import Graph, NodeSpec
from tests.packages import graph_of, map_node, node, task, workflow


def task_with_policy() -> TaskSpec:
    spec = task("m.t", inputs={})
    spec.template.metadata.retries.retries = 2
    spec.template.metadata.timeout.seconds = 300
    spec.template.metadata.timeout.nanos = 500_000_000
    spec.template.metadata.interruptible = True
    return spec


def graph(made: workflow_pb2.Node, *, interruptible: bool = False) -> Graph:
    flow = workflow("m.w", made)
    flow.template.metadata_defaults.interruptible = interruptible
    return graph_of(task_with_policy(), task("m.plain", inputs={}), flow)


def compiled(made: workflow_pb2.Node, *, interruptible: bool = False) -> NodeSpec:
    return graph(made, interruptible=interruptible).nodes["n0"]


def policy(spec: NodeSpec) -> tuple[int, float | None, bool | None]:
    return spec.retries, spec.timeout_seconds, spec.interruptible


def test_what_a_node_does_not_say_is_the_tasks() -> None:
    assert policy(compiled(node("n0"))) == (2, 300.5, True)


def test_what_a_node_says_is_the_nodes() -> None:
    made = node("n0")
    made.metadata.retries.retries = 5
    made.metadata.timeout.seconds = 7
    made.metadata.interruptible = False
    assert policy(compiled(made)) == (5, 7.0, False)


def test_empty_fields_say_nothing() -> None:
    made = node("n0")
    made.metadata.retries.retries = 0
    made.metadata.timeout.seconds = 0
    assert policy(compiled(made)) == (2, 300.5, True)


def test_without_any_policy() -> None:
    assert policy(compiled(node("n0", runs="m.plain"))) == (0, None, None)


def test_what_an_interruptible_workflow_says_is_kept_apart_from_its_nodes() -> None:
    assert policy(compiled(node("n0", runs="m.plain"), interruptible=True)) == (0, None, None)
    assert graph(node("n0", runs="m.plain"), interruptible=True).interruptible
    assert not graph(node("n0", runs="m.plain")).interruptible


def test_the_policy_of_map_elements_stands_on_the_inner_node() -> None:
    made = map_node("n0", {})
    made.metadata.retries.retries = 9
    assert policy(compiled(made)) == (2, 300.5, True)
    made.array_node.node.metadata.retries.retries = 4
    made.array_node.node.metadata.timeout.seconds = 6
    assert policy(compiled(made)) == (4, 6.0, True)


def test_the_name_for_people_is_the_nodes() -> None:
    made = node("n0")
    made.metadata.name = "add"
    assert compiled(made).name == "add"
