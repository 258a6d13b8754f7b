"""What differs between two definitions of one entity, in words that lead its author to the place."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping

from flyteidl.admin.launch_plan_pb2 import LaunchPlan
from flyteidl.admin.task_pb2 import TaskSpec
from flyteidl.admin.workflow_pb2 import WorkflowSpec
from flyteidl.core.interface_pb2 import TypedInterface, VariableMap
from flyteidl.core.tasks_pb2 import Container, TaskTemplate
from flyteidl.core.workflow_pb2 import Node, WorkflowTemplate
from google.protobuf.message import Message

from engine.wire.entities import Entity
from engine.wire.typenames import type_name

_TASK_PARTS = {
    "type": "type",
    "task_type_version": "type",
    "custom": "plugin settings",
    "config": "plugin settings",
    "k8s_pod": "pod",
    "sql": "query",
    "security_context": "secrets and identity",
    "extended_resources": "resources",
}
_CONTAINER_PARTS = {
    "resources": "resources",
    "env": "environment",
    "config": "plugin settings",
    "ports": "ports",
    "data_config": "data files",
}
_METADATA_PARTS = {
    "discoverable": "caching",
    "discovery_version": "caching",
    "cache_serializable": "caching",
    "cache_ignore_input_vars": "caching",
    "runtime": "flytekit version",
    "timeout": "timeout",
    "retries": "retries",
    "interruptible": "interruptible",
    "metadata": "labels and annotations",
}
_PLAN_PARTS = {
    "workflow_id": "workflow",
    "default_inputs": "default inputs",
    "fixed_inputs": "fixed inputs",
    "entity_metadata": "schedule and notifications",
    "labels": "labels",
    "annotations": "annotations",
    "envs": "environment",
}
_SHOWN = 80
"""Characters of a value."""


def differences(old: Entity, new: Entity) -> list[str]:
    """The parts that differ, each once, with both values where they are short."""
    match old, new:
        case TaskSpec(), TaskSpec():
            found = _task(old.template, new.template)
        case WorkflowSpec(), WorkflowSpec():
            found = _workflow(old, new)
        case LaunchPlan(), LaunchPlan():
            found = _fields(old.spec, new.spec, _PLAN_PARTS)
        case _:
            found = iter(["kind"])
    return list(dict.fromkeys(found)) or (["description"] if old != new else [])


def _task(old: TaskTemplate, new: TaskTemplate) -> Iterator[str]:
    yield from _interface(old.interface, new.interface)
    if old.container != new.container:
        yield from _container(old.container, new.container)
    yield from _fields(old.metadata, new.metadata, _METADATA_PARTS)
    yield from _fields(old, new, _TASK_PARTS, ("id", "interface", "container", "metadata"))


def _container(old: Container, new: Container) -> Iterator[str]:
    if old.image != new.image:
        yield f"image: {old.image or 'none'} -> {new.image or 'none'}"
    before, after = [*old.command, *old.args], [*new.command, *new.args]
    if before != after:
        yield f"command: {_short(before)} -> {_short(after)}"
    if old.architecture != new.architecture:
        names = [Container.Architecture.Name(it.architecture) for it in (old, new)]
        yield f"architecture: {names[0]} -> {names[1]}"
    yield from _fields(old, new, _CONTAINER_PARTS, ("image", "command", "args", "architecture"))


def _fields(old: Message, new: Message, parts: Mapping[str, str], told: Collection[str] = ()) -> Iterator[str]:
    """The parts that top-level fields stand for; a field without a word of its own goes by its name.

    `told`: fields that are told with more words.
    """
    for field in old.DESCRIPTOR.fields:
        if field.name not in told and getattr(old, field.name) != getattr(new, field.name):
            yield parts.get(field.name, field.name.replace("_", " "))


def _interface(old: TypedInterface, new: TypedInterface) -> Iterator[str]:
    for what, before, after in (("input", old.inputs, new.inputs), ("output", old.outputs, new.outputs)):
        yield from _variables(what, before, after)


def _variables(what: str, old: VariableMap, new: VariableMap) -> Iterator[str]:
    for name in sorted({*old.variables, *new.variables}):
        if name not in new.variables:
            yield f"interface: {what} {name!r} is gone"
        elif name not in old.variables:
            yield f"interface: {what} {name!r} is new"
        elif old.variables[name].type != new.variables[name].type:
            before, after = type_name(old.variables[name].type), type_name(new.variables[name].type)
            change = f" {before} -> {after}" if before != after else ""
            yield f"interface: {what} {name!r}{change}"


def _workflow(old: WorkflowSpec, new: WorkflowSpec) -> Iterator[str]:
    yield from _template(old.template, new.template)
    before = {own.id.name: own for own in old.sub_workflows}
    after = {own.id.name: own for own in new.sub_workflows}
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            yield f"sub-workflow {name}"


def _template(old: WorkflowTemplate, new: WorkflowTemplate) -> Iterator[str]:
    yield from _interface(old.interface, new.interface)
    before, after = {node.id: node for node in old.nodes}, {node.id: node for node in new.nodes}
    nodes = [text for text, ids in _node_changes(before, after) if ids]
    if nodes:
        yield f"graph: {', '.join(nodes)}"
    if list(old.outputs) != list(new.outputs):
        yield "graph: what its outputs are bound to"
    if old.failure_node != new.failure_node:
        yield "failure node"
    if (old.metadata, old.metadata_defaults) != (new.metadata, new.metadata_defaults):
        yield "failure policy and defaults"


def _node_changes(old: Mapping[str, Node], new: Mapping[str, Node]) -> Iterator[tuple[str, bool]]:
    for word, ids in (
        ("new", new.keys() - old.keys()),
        ("gone", old.keys() - new.keys()),
        ("changed", {id for id in old.keys() & new.keys() if old[id] != new[id]}),
    ):
        yield f"{word} {_short_list(sorted(ids))}", bool(ids)


def _short_list(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - 10} more" if len(listed) > 10 else ""
    return " ".join(listed[:10]) + more


def _short(words: list[str]) -> str:
    text = json.dumps(words)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
