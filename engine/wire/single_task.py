"""A workflow of one node around a task, so that a task can be run by itself, as Flyte does it."""

from __future__ import annotations

from flyteidl.admin.launch_plan_pb2 import LaunchPlan
from flyteidl.admin.task_pb2 import TaskSpec
from flyteidl.admin.workflow_pb2 import WorkflowSpec
from flyteidl.core.identifier_pb2 import Identifier, ResourceType
from flyteidl.core.literals_pb2 import Binding

from engine.model.ids import EntityId, EntityKind
from engine.wire.entities import Entity
from engine.wire.package import Package
from engine.wire.registration import package_of

PREFIX = ".flytegen."
"""Flyte's own name for such a workflow: the task's name behind it."""
NODE = "n0"


def single_task_package(task: Entity, code_root: str) -> tuple[Package, EntityId]:
    """The package that runs a registered task, and the launch plan to run. The task's own policies hold."""
    assert isinstance(task, TaskSpec)
    id = task.template.id
    workflow, plan = _workflow(task), LaunchPlan()
    _name(plan.id, id, ResourceType.LAUNCH_PLAN)
    plan.spec.workflow_id.CopyFrom(workflow.template.id)
    for variable, declared in workflow.template.interface.inputs.variables.items():
        plan.spec.default_inputs.parameters[variable].var.CopyFrom(declared)
        plan.spec.default_inputs.parameters[variable].required = True
    package = package_of([task, workflow, plan], (id.project, id.domain, id.version), code_root)
    return package, EntityId(EntityKind.LAUNCH_PLAN, id.project, id.domain, plan.id.name, id.version)


def _workflow(task: TaskSpec) -> WorkflowSpec:
    workflow = WorkflowSpec()
    template = workflow.template
    _name(template.id, task.template.id, ResourceType.WORKFLOW)
    template.interface.CopyFrom(task.template.interface)
    node = template.nodes.add(id=NODE)
    node.task_node.reference_id.CopyFrom(task.template.id)
    node.inputs.extend(_promise(name, "") for name in sorted(template.interface.inputs.variables))
    template.outputs.extend(_promise(name, NODE) for name in sorted(template.interface.outputs.variables))
    return workflow


def _name(identifier: Identifier, task: Identifier, kind: ResourceType) -> None:
    identifier.CopyFrom(task)
    identifier.resource_type, identifier.name = kind, f"{PREFIX}{task.name}"


def _promise(variable: str, node: str) -> Binding:
    """The variable of the same name of a node, or of the workflow's inputs."""
    binding = Binding(var=variable)
    binding.binding.promise.node_id, binding.binding.promise.var = node, variable
    return binding
