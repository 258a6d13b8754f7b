"""Edges are explicit dependencies and data sources; the start-node and the end-node are added."""

from __future__ import annotations

from flyteidl.core.literals_pb2 import BindingData
from flyteidl.core.workflow_pb2 import WorkflowMetadata

from engine.model.graph import END_NODE, START_NODE, FailurePolicy, NodeKind
from tests.literal_types import INT, STR, list_of
from tests.packages import (
    calls,
    constant,
    given,
    graph_of,
    items,
    node,
    output,
    plan,
    plan_id,
    task,
    task_id,
    workflow,
    workflow_id,
)

TASK = task("m.t")


def test_explicit_dependencies_and_sources_are_upstream() -> None:
    graph = graph_of(
        TASK,
        workflow(
            "m.w",
            node("n0", {"a": given("n")}),
            node("n1", {"a": constant(1)}),
            node("n2", {"a": output("n1")}, after=["n0", "n1"]),
            node("n3", {"a": output("n2")}),
        ),
    )
    assert {key: spec.upstream for key, spec in graph.nodes.items()} == {
        START_NODE: (),
        "n0": (START_NODE,),
        "n1": (START_NODE,),
        "n2": ("n0", "n1"),
        "n3": ("n2",),
        END_NODE: ("n3",),
    }
    assert {key: spec.sources for key, spec in graph.nodes.items()} == {
        START_NODE: (START_NODE,),
        "n0": (START_NODE,),
        "n1": (),
        "n2": ("n1",),
        "n3": ("n2",),
        END_NODE: (),
    }
    assert graph.downstream == {
        START_NODE: ("n0", "n1"),
        "n0": ("n2",),
        "n1": ("n2",),
        "n2": ("n3",),
        "n3": (END_NODE,),
        END_NODE: (),
    }


def test_promises_inside_lists_are_sources() -> None:
    graph = graph_of(
        TASK,
        task("m.sum", inputs={"xs": list_of(list_of(INT))}),
        workflow(
            "m.w",
            node("n0", {"a": given("n")}),
            node("n1", {"a": given("n")}),
            node("n2", {"xs": items(items(output("n0")), items(output("n1"), given("n")))}, runs="m.sum"),
        ),
    )
    assert graph.nodes["n2"].sources == ("n0", "n1", START_NODE)
    assert graph.nodes["n2"].upstream == ("n0", "n1")


def test_the_end_waits_for_every_leaf_and_for_its_sources() -> None:
    graph = graph_of(
        TASK,
        workflow(
            "m.w",
            node("n0", {"a": given("n")}),
            node("n1", {"a": output("n0")}),
            node("n2", {"a": given("n")}),
            gives={"first": (INT, output("n0")), "passed": (INT, given("n"))},
        ),
    )
    end = graph.nodes[END_NODE]
    assert (end.kind, end.upstream, end.sources) == (NodeKind.END, ("n0", "n1", "n2"), ("n0", START_NODE))
    assert [binding.variable for binding in end.bindings] == ["first", "passed"]
    assert BindingData.FromString(end.bindings[0].data) == output("n0")


def test_a_workflow_without_nodes_ends_after_its_start() -> None:
    graph = graph_of(workflow("m.w", gives={"o0": (INT, constant(3))}))
    assert graph.nodes[END_NODE].upstream == (START_NODE,)
    assert graph.downstream == {START_NODE: (END_NODE,), END_NODE: ()}


def test_each_node_knows_its_kind_and_what_it_runs() -> None:
    sub = workflow("m.sub", node("n0", {"a": given("n")}))
    graph = graph_of(
        TASK,
        sub,
        plan("m.plan", sub),
        workflow(
            "m.w",
            node("n0", {"a": given("n")}),
            calls("n1", {"n": given("n")}, workflow="m.sub"),
            calls("n2", {"n": given("n")}, plan="m.plan"),
        ),
    )
    assert [(graph.nodes[key].kind, graph.nodes[key].target) for key in ("n0", "n1", "n2")] == [
        (NodeKind.TASK, task_id("m.t")),
        (NodeKind.SUBWORKFLOW, workflow_id("m.sub")),
        (NodeKind.LAUNCH_PLAN, plan_id("m.plan")),
    ]


def test_a_sub_workflow_that_is_only_embedded_is_there_too() -> None:
    spec = workflow("m.w", calls("n0", {"n": given("n")}, workflow="m.sub"))
    spec.sub_workflows.append(workflow("m.sub", node("n0", {"a": given("n")})).template)
    assert graph_of(TASK, spec, name="m.sub").nodes["n0"].target == task_id("m.t")


def test_the_interface_and_the_failure_policy() -> None:
    spec = workflow("m.w", inputs={"z": STR, "b": INT}, gives={"o0": (INT, given("b"))})
    spec.template.metadata.on_failure = WorkflowMetadata.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE
    graph = graph_of(spec)
    assert graph.policy is FailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE
    assert dict(graph.interface.inputs) == {"b": INT.SerializeToString(), "z": STR.SerializeToString()}
    assert dict(graph.interface.outputs) == {"o0": INT.SerializeToString()}
    assert graph_of(workflow("m.w")).policy is FailurePolicy.FAIL_IMMEDIATELY
