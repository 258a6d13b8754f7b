"""Packaging leaves project, domain and version empty wherever an id stands; registering fills them, and only them."""

from __future__ import annotations

from flyteidl.admin.launch_plan_pb2 import LaunchPlan
from flyteidl.admin.workflow_pb2 import WorkflowSpec
from flyteidl.core import workflow_pb2
from flyteidl.core.identifier_pb2 import Identifier

from engine.wire.entities import identifiers
from tests.packages import calls, map_node, node, plan, registered, task, workflow


def spec_with_every_place() -> WorkflowSpec:
    """A workflow that refers to something in every way there is."""
    branch = workflow_pb2.Node(id="n4")
    block = branch.branch_node.if_else
    block.case.then_node.CopyFrom(node("n0"))
    block.other.add().then_node.CopyFrom(calls("n1", workflow="m.sub"))
    block.else_node.CopyFrom(map_node("n2", {}))
    spec = workflow(
        "m.w", node("n0"), calls("n1", plan="m.plan"), calls("n2", workflow="m.sub"), map_node("n3", {}), branch
    )
    spec.sub_workflows.append(workflow("m.sub", node("n0")).template)
    spec.template.failure_node.CopyFrom(node("fn0"))
    return spec


def filled(identifier: Identifier) -> tuple[str, str, str]:
    return (identifier.project, identifier.domain, identifier.version)


def test_every_id_of_a_workflow_is_filled() -> None:
    package = registered(task("m.t"), spec_with_every_place())
    found = list(identifiers(WorkflowSpec.FromString(package.workflows[0])))
    assert sorted(id.name for id in found) == sorted(
        ["m.w", "m.sub", "m.t", "m.plan", "m.sub", "m.t", "m.t", "m.sub", "m.t", "m.t", "m.t"]
    )
    assert {filled(id) for id in found} == {("p", "d", "v1")}


def test_the_workflow_of_a_launch_plan_is_filled() -> None:
    flow = workflow("m.w", node("n0"))
    package = registered(task("m.t"), flow, plan("m.plan", flow))
    found = LaunchPlan.FromString(package.launch_plans[0])
    assert filled(found.id) == filled(found.spec.workflow_id) == ("p", "d", "v1")


def test_an_id_that_is_full_already_is_left_alone() -> None:
    elsewhere = Identifier(project="theirs", domain="prod", name="x.t", version="v7")
    package = registered(workflow("m.w", node("n0", runs=elsewhere)))
    template = WorkflowSpec.FromString(package.workflows[0]).template
    assert filled(template.nodes[0].task_node.reference_id) == ("theirs", "prod", "v7")


def test_the_placeholders_of_the_registrar_count_as_empty() -> None:
    marked = Identifier(
        project="{{ registration.project }}",
        domain="{{registration.domain}}",
        name="m.t",
        version="{{ registration.version }}",
    )
    package = registered(task("m.t"), workflow("m.w", node("n0", runs=marked)))
    template = WorkflowSpec.FromString(package.workflows[0]).template
    assert filled(template.nodes[0].task_node.reference_id) == ("p", "d", "v1")
