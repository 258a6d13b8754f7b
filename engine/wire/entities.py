"""The messages of a package and the ways through them: their ids, their nodes to any depth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flyteidl.admin.launch_plan_pb2 import LaunchPlan
from flyteidl.admin.task_pb2 import TaskSpec
from flyteidl.admin.workflow_pb2 import WorkflowSpec
from flyteidl.core.identifier_pb2 import Identifier
from flyteidl.core.workflow_pb2 import Node, WorkflowTemplate

from engine.model.ids import EntityKind

Entity = TaskSpec | WorkflowSpec | LaunchPlan


def own_id(entity: Entity) -> Identifier:
    """The id that the entity is registered under."""
    return entity.id if isinstance(entity, LaunchPlan) else entity.template.id


def canonical(entity: Entity) -> bytes:
    """Bytes that depend on the content alone."""
    return entity.SerializeToString(deterministic=True)


def templates(entity: WorkflowSpec) -> Iterator[WorkflowTemplate]:
    """The workflow and the sub-workflows that are embedded in it."""
    yield entity.template
    yield from entity.sub_workflows


def all_nodes(entity: WorkflowSpec) -> Iterator[Node]:
    """Every node of the workflow and of its sub-workflows, to any depth, failure nodes included."""
    for template in templates(entity):
        yield from nodes_within(template.nodes)
        if template.HasField("failure_node"):
            yield from nodes_within([template.failure_node])


def nodes_within(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes, and those inside them: bodies of branches, elements of maps, to any depth."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        match node.WhichOneof("target"):
            case "array_node":
                stack.append(node.array_node.node)
            case "branch_node":
                stack += branch_bodies(node)


def branch_bodies(node: Node) -> list[Node]:
    """The nodes that a branch chooses from."""
    block = node.branch_node.if_else
    bodies = [block.case.then_node, *(other.then_node for other in block.other)]
    return [*bodies, block.else_node] if block.WhichOneof("default") == "else_node" else bodies


def identifiers(entity: Entity) -> Iterator[Identifier]:
    """Every id in it, its own first, as the message itself: to be read or filled."""
    yield own_id(entity)
    match entity:
        case LaunchPlan():
            yield entity.spec.workflow_id
        case WorkflowSpec():
            yield from (template.id for template in entity.sub_workflows)
            yield from (identifier for _, identifier in references(entity))


def references(entity: WorkflowSpec) -> Iterator[tuple[EntityKind, Identifier]]:
    """What its nodes run, as the messages themselves."""
    for node in all_nodes(entity):
        match node.WhichOneof("target"):
            case "task_node":
                yield EntityKind.TASK, node.task_node.reference_id
            case "workflow_node" if node.workflow_node.WhichOneof("reference") == "launchplan_ref":
                yield EntityKind.LAUNCH_PLAN, node.workflow_node.launchplan_ref
            case "workflow_node" if node.workflow_node.WhichOneof("reference") == "sub_workflow_ref":
                yield EntityKind.WORKFLOW, node.workflow_node.sub_workflow_ref
