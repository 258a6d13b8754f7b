"""The container of a task: what to run, from its own target or from the primary container of its pod."""

from __future__ import annotations

from functools import lru_cache

from flyteidl.core import tasks_pb2
from google.protobuf import struct_pb2
from msgspec import Struct

from engine.model.errors import ErrorKind, Failure, Permanent
from engine.model.graph import TaskSpec

PRIMARY = "primary_container_name"


class Container(Struct, frozen=True):
    argv: tuple[str, ...]
    """Command and arguments, templates not rendered."""
    env: dict[str, str]


def container_of(task: TaskSpec) -> Container:
    """Raises Permanent (USER, BadTaskFormat) naming the task's type when there is nothing to run."""
    found = _container(task.template)
    if found is None:
        message = f"{task.id} has type {task.type!r} and no container: this engine runs only tasks that have one"
        raise Permanent(Failure(code="BadTaskFormat", kind=ErrorKind.USER, message=message))
    return found


@lru_cache(maxsize=256)
def _container(template: bytes) -> Container | None:
    task = tasks_pb2.TaskTemplate.FromString(template)
    match task.WhichOneof("target"):
        case "container":
            container = task.container
            return _made([*container.command, *container.args], {pair.key: pair.value for pair in container.env})
        case "k8s_pod":
            return _primary(task)
    return None


def _primary(task: tasks_pb2.TaskTemplate) -> Container | None:
    """The container that flytekit named as primary, or the only one. Values from secrets and fields stay the pod's."""
    containers = [item.struct_value for item in task.k8s_pod.pod_spec.fields["containers"].list_value.values]
    name = task.config.get(PRIMARY) or task.k8s_pod.primary_container_name
    named = [it for it in containers if _text(it, "name") == name] or (containers if len(containers) == 1 else [])
    if not named:
        return None
    container = named[0]
    env = [item.struct_value for item in container.fields["env"].list_value.values]
    return _made(
        [*_texts(container, "command"), *_texts(container, "args")],
        {_text(pair, "name"): _text(pair, "value") for pair in env if "value" in pair.fields},
    )


def _made(argv: list[str], env: dict[str, str]) -> Container | None:
    return Container(tuple(argv), env) if argv else None


def _text(struct: struct_pb2.Struct, key: str) -> str:
    return str(struct.fields[key].string_value) if key in struct.fields else ""


def _texts(struct: struct_pb2.Struct, key: str) -> list[str]:
    return [item.string_value for item in struct.fields[key].list_value.values] if key in struct.fields else []
