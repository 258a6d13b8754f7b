"""Registers a package: fills the ids that packaging left empty, and brings every message into canonical form.

Canonical: sets that Python wrote in any order (upstream node ids, bound inputs) are sorted, protobuf is serialized
deterministically, entities are sorted by name. Three packagings of one file give the same bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence

from flyteidl.admin.launch_plan_pb2 import LaunchPlan
from flyteidl.admin.task_pb2 import TaskSpec
from flyteidl.admin.workflow_pb2 import WorkflowSpec
from google.protobuf.message import DecodeError

from engine.model.architectures import Architecture
from engine.model.errors import BadPackage
from engine.wire.architecture import stamp
from engine.wire.entities import Entity, all_nodes, canonical, identifiers, own_id
from engine.wire.package import Package, PackageFiles

_FILE = re.compile(r".*_(?P<kind>\d+)\.pb\Z", re.DOTALL)
_MESSAGES: dict[str, Callable[[bytes], Entity]] = {
    "1": TaskSpec.FromString,
    "2": WorkflowSpec.FromString,
    "3": LaunchPlan.FromString,
}
"""By the number that ends the file's name: the value of flyteidl's ResourceType."""
_EMPTY = re.compile(r"(\{\{\s*registration\.(project|domain|version)\s*\}\})?\Z")
"""An id field that the registrar fills: empty, or one of the placeholders that flytectl knows."""


def register(
    files: PackageFiles, *, project: str, domain: str, version: str = "", architecture: Architecture | None = None
) -> Package:
    """The package under a project, domain and version; an empty version is derived from the content.

    `architecture`: of every container task that does not say its own.

    Raises BadPackage listing every file that is no entity or has no name.
    """
    entities = list(_parse(files))
    for entity in entities:
        fill_place(entity, project, domain)
        sort_sets(entity)
        if architecture is not None and isinstance(entity, TaskSpec):
            stamp(entity.template, architecture)
    version = version or _version(entities, files.code_archive)
    for entity in entities:
        fill_version(entity, version)
    return package_of(entities, (project, domain, version), files.code_root)


def _version(entities: Iterable[Entity], code_archive: str) -> str:
    """Of what the entities are, and of the code that travels with them, which the archive's name stands for."""
    content = b"".join(sorted(set(map(canonical, entities)))) + code_archive.encode()
    return hashlib.sha256(content).hexdigest()[:16]


def package_of(entities: Sequence[Entity], home: tuple[str, str, str], code_root: str, root: str = "") -> Package:
    """The package of entities whose ids are filled and whose sets are sorted."""
    project, domain, version = home
    return Package(
        project,
        domain,
        version,
        tasks=_stored(entity for entity in entities if isinstance(entity, TaskSpec)),
        workflows=_stored(entity for entity in entities if isinstance(entity, WorkflowSpec)),
        launch_plans=_stored(entity for entity in entities if isinstance(entity, LaunchPlan)),
        code_root=code_root,
        root=root,
    )


def _stored(entities: Iterable[Entity]) -> tuple[bytes, ...]:
    named = sorted({(own_id(entity).name, canonical(entity)) for entity in entities})
    return tuple(data for _, data in named)


def _parse(files: PackageFiles) -> list[Entity]:
    found: list[Entity] = []
    problems: list[str] = []
    for name, data in sorted(files.files.items()):
        entity = _parse_one(name, data)
        if isinstance(entity, str):
            problems.append(f"{name}: {entity}")
        else:
            found.append(entity)
    if not found and not problems:
        problems.append("no task, workflow or launch plan in it")
    if problems:
        raise BadPackage(files.where, problems)
    return found


def _parse_one(name: str, data: bytes) -> Entity | str:
    """The entity in a file, or what is wrong with the file."""
    kind = _FILE.match(name)
    parse = _MESSAGES.get(kind["kind"]) if kind else None
    if parse is None:
        return "expected a name that ends in _1.pb (task), _2.pb (workflow) or _3.pb (launch plan)"
    try:
        entity = parse(data)
    except DecodeError:
        return f"its {len(data)} bytes are no serialized {_WORDS[parse]}: damaged or cut off"
    if not own_id(entity).name:
        return f"the {_WORDS[parse]} in it has no name: damaged or cut off ({len(data)} bytes)"
    return entity


_WORDS = {_MESSAGES["1"]: "task", _MESSAGES["2"]: "workflow", _MESSAGES["3"]: "launch plan"}


def fill_place(entity: Entity, project: str, domain: str) -> None:
    """Put project and domain into every id of the entity that packaging left without."""
    for identifier in identifiers(entity):
        identifier.project = project if _EMPTY.match(identifier.project) else identifier.project
        identifier.domain = domain if _EMPTY.match(identifier.domain) else identifier.domain


def fill_version(entity: Entity, version: str) -> None:
    """The same for the version."""
    for identifier in identifiers(entity):
        identifier.version = version if _EMPTY.match(identifier.version) else identifier.version


def sort_sets(entity: Entity) -> None:
    """Bring what flytekit writes from Python sets into one order."""
    if not isinstance(entity, WorkflowSpec):
        return
    for node in all_nodes(entity):
        node.upstream_node_ids.sort()
        if node.WhichOneof("target") == "array_node":
            node.array_node.bound_inputs.sort()
