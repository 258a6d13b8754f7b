"""The container of a task: what to run, from its own target or from the primary container of its pod."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

from flyteidl.core import tasks_pb2, workflow_pb2
from google.protobuf import struct_pb2
from msgspec import Struct

from engine.model.errors import ErrorKind, Failure, Permanent
from engine.model.graph import TaskSpec

PRIMARY = "primary_container_name"
INPUT_PATH, OUTPUT_PATH = "/var/flyte/inputs", "/var/flyte/outputs"
"""Where a raw container finds and leaves its data if it does not say; FlytePropeller's defaults."""


class DataFormat(StrEnum):
    """How all inputs together are told to a raw container, beside a file for each."""

    JSON = "json"
    YAML = "yaml"
    PROTO = "pb"


class DataConfig(Struct, frozen=True):
    """Where a raw container finds its inputs and leaves its outputs, as files."""

    input_path: str
    output_path: str
    format: DataFormat


class Container(Struct, frozen=True):
    command: tuple[str, ...]
    """In place of the image's entry point; empty leaves that as it is. Templates are not rendered, as in `args`."""
    args: tuple[str, ...]
    env: dict[str, str]
    image: str = ""
    data: DataConfig | None = None

    @property
    def argv(self) -> tuple[str, ...]:
        return self.command + self.args


def container_of(task: TaskSpec, overrides: bytes = b"") -> Container:
    """`overrides`: of the node, a serialized `TaskNodeOverrides`, whose image or pod wins.

    Raises Permanent (USER, BadTaskFormat) naming the task's type when there is nothing to run.
    """
    found = _container(task.template, overrides)
    if found is None:
        message = f"{task.id} has type {task.type!r} and no container: this engine runs only tasks that have one"
        raise Permanent(Failure(code="BadTaskFormat", kind=ErrorKind.USER, message=message))
    return found


@lru_cache(maxsize=256)
def _container(template: bytes, overrides: bytes) -> Container | None:
    task = tasks_pb2.TaskTemplate.FromString(template)
    said = workflow_pb2.TaskNodeOverrides.FromString(overrides)
    found = _of_target(task)
    if said.HasField("pod_template"):
        name = said.pod_template.primary_container_name or task.config.get(PRIMARY, "")
        pod = _primary(said.pod_template.pod_spec, name)
        # The SDK puts the command into the pod; a pod without one says only where the task's own is to run.
        found = pod if pod is not None and pod.argv else found
    if found is None or not (found.argv or (found.image and found.data)):
        return None
    image = said.container_image or found.image
    return Container(found.command, found.args, found.env, image, found.data)


def _of_target(task: tasks_pb2.TaskTemplate) -> Container | None:
    match task.WhichOneof("target"):
        case "container":
            container = task.container
            env = {pair.key: pair.value for pair in container.env}
            data = _data(container.data_config)
            return Container(tuple(container.command), tuple(container.args), env, container.image, data)
        case "k8s_pod":
            pod = task.k8s_pod
            name = task.config.get(PRIMARY) or pod.primary_container_name
            found = _primary(pod.pod_spec, name)
            data = _data(pod.data_config)
            return found and Container(found.command, found.args, found.env, found.image, data)
    return None


def _data(config: tasks_pb2.DataLoadingConfig) -> DataConfig | None:
    if not config.enabled:
        return None
    formats = {config.JSON: DataFormat.JSON, config.YAML: DataFormat.YAML}
    format = formats.get(config.format, DataFormat.PROTO)
    return DataConfig(config.input_path or INPUT_PATH, config.output_path or OUTPUT_PATH, format)


def _primary(pod: struct_pb2.Struct, name: str) -> Container | None:
    """The container that flytekit named as primary, or the only one. Values from secrets and fields stay the pod's."""
    containers = [item.struct_value for item in pod.fields["containers"].list_value.values]
    named = [it for it in containers if _text(it, "name") == name] or (containers if len(containers) == 1 else [])
    if not named:
        return None
    container = named[0]
    pairs = [item.struct_value for item in container.fields["env"].list_value.values]
    env = {_text(pair, "name"): _text(pair, "value") for pair in pairs if "value" in pair.fields}
    return Container(_texts(container, "command"), _texts(container, "args"), env, _text(container, "image"))


def _text(struct: struct_pb2.Struct, key: str) -> str:
    return str(struct.fields[key].string_value) if key in struct.fields else ""


def _texts(struct: struct_pb2.Struct, key: str) -> tuple[str, ...]:
    values = struct.fields[key].list_value.values if key in struct.fields else ()
    return tuple(item.string_value for item in values)
