"""What the entities of a package define, and what they refer to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flyteidl.admin.launch_plan_pb2 import LaunchPlan
from flyteidl.admin.task_pb2 import TaskSpec
from flyteidl.admin.workflow_pb2 import WorkflowSpec
from msgspec import structs

from engine.model.ids import EntityId, EntityKind
from engine.wire.entities import Entity, canonical, own_id, references, templates
from engine.wire.interfaces import entity_id
from engine.wire.package import Link, Package

_KINDS: Mapping[type[Entity], EntityKind] = {
    TaskSpec: EntityKind.TASK,
    WorkflowSpec: EntityKind.WORKFLOW,
    LaunchPlan: EntityKind.LAUNCH_PLAN,
}


def contents(package: Package) -> dict[EntityId, Entity]:
    """The registered entities of a package, its own and those from elsewhere."""
    found: list[Entity] = [
        *map(TaskSpec.FromString, package.tasks),
        *map(WorkflowSpec.FromString, package.workflows),
        *map(LaunchPlan.FromString, package.launch_plans),
    ]
    return {id_of(entity): entity for entity in found}


def id_of(entity: Entity) -> EntityId:
    return entity_id(own_id(entity), _KINDS[type(entity)])


def defined(entity: Entity) -> Iterator[EntityId]:
    """Its own id, and those of the sub-workflows that are embedded in it."""
    yield id_of(entity)
    if isinstance(entity, WorkflowSpec):
        yield from (entity_id(template.id, EntityKind.WORKFLOW) for template in templates(entity))


def wanted(entity: Entity) -> Iterator[EntityId]:
    """What it refers to."""
    match entity:
        case WorkflowSpec():
            yield from (entity_id(identifier, kind) for kind, identifier in references(entity))
        case LaunchPlan():
            yield entity_id(entity.spec.workflow_id, EntityKind.WORKFLOW)


def missing(package: Package) -> set[EntityId]:
    """What the entities of a package refer to and the package does not hold."""
    entities = contents(package).values()
    held = {id for entity in entities for id in defined(entity)}
    return {id for entity in entities for id in wanted(entity)} - held


def with_linked(package: Package, found: Mapping[EntityId, tuple[Entity, str]]) -> Package:
    """The package with entities from elsewhere, each with the folder of its modules."""

    def stored(own: tuple[bytes, ...], kind: EntityKind) -> tuple[bytes, ...]:
        return (*own, *(canonical(found[id][0]) for id in sorted(found) if id.kind is kind))

    return structs.replace(
        package,
        tasks=stored(package.tasks, EntityKind.TASK),
        workflows=stored(package.workflows, EntityKind.WORKFLOW),
        launch_plans=stored(package.launch_plans, EntityKind.LAUNCH_PLAN),
        links=(*package.links, *(Link(id, code_root) for id, (_, code_root) in sorted(found.items()))),
    )
