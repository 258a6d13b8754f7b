"""What the pod of a task needs, read from its template and from what its node overrides."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import cast

from flyteidl.core import security_pb2, tasks_pb2, workflow_pb2
from google.protobuf import json_format, struct_pb2, text_format
from msgspec import structs

from engine.data.container import PRIMARY
from engine.data.template import render
from engine.model.effects import RunElement, RunTask
from engine.model.podneeds import GPU, Accelerator, PodNeeds, SharedMemory
from engine.ports.blobstore import BlobStore

Json = dict[str, "Value"]
Value = None | bool | int | float | str | list["Value"] | Json

_STANDARD_BASE32 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567="
_FLYTES_BASE32 = b"abcdefghijklmnopqrstuvwxyz123456 "
_NAMES = {
    tasks_pb2.Resources.CPU: "cpu",
    tasks_pb2.Resources.GPU: GPU,
    tasks_pb2.Resources.MEMORY: "memory",
    tasks_pb2.Resources.STORAGE: "storage",
    tasks_pb2.Resources.EPHEMERAL_STORAGE: "ephemeral-storage",
}


async def pod_needs(blobs: BlobStore, effect: RunTask | RunElement, command_words: int, inputs: bytes) -> PodNeeds:
    """What is asked of an attempt's pod, the commands of the containers beside the task's own rendered, too.

    `command_words`: of the attempt's argv, those that replace an entry point. Raises as `render`.
    """
    execution = effect.origin.overrides
    found = _needs(effect.task.template, effect.spec.overrides)
    pod = found.pod
    if b"{{" in pod:
        spec = json.loads(pod)
        for container, field in _other_commands(spec, found.primary):
            words = [str(word) for word in container[field]]
            done = await render(blobs, effect.key, effect.task, words, inputs, effect.origin, expands=True)
            container[field] = [*done]
        pod = json.dumps(spec, sort_keys=True).encode()
    return structs.replace(
        found,
        pod=pod,
        labels={**found.labels, **execution.labels},
        annotations={**found.annotations, **execution.annotations},
        service_account=execution.service_account or found.service_account,
        command_words=command_words,
        workflow=effect.origin.workflow.name,
    )


def _other_commands(pod: Json, primary: str) -> Iterator[tuple[dict[str, list[Value]], str]]:
    """The lists of words, in containers beside the one that runs the task, that may hold template variables."""
    for kind in ("initContainers", "containers"):
        for container in _objects(pod.get(kind)):
            if kind == "initContainers" or container.get("name") != primary:
                lists = cast("dict[str, list[Value]]", container)
                yield from ((lists, field) for field in ("command", "args") if container.get(field))


@lru_cache(maxsize=256)
def _needs(template: bytes, overrides: bytes) -> PodNeeds:
    task = tasks_pb2.TaskTemplate.FromString(template)
    said = workflow_pb2.TaskNodeOverrides.FromString(overrides)
    k8s = said.pod_template if said.HasField("pod_template") else task.k8s_pod
    pod = as_json(k8s.pod_spec)
    primary = (said.pod_template.primary_container_name or task.config.get(PRIMARY)) or k8s.primary_container_name
    extended = said.extended_resources if said.HasField("extended_resources") else task.extended_resources
    metadata, own = k8s.metadata, task.metadata.metadata
    return PodNeeds(
        pod=json.dumps(pod, sort_keys=True).encode() if pod else b"",
        primary=primary or _only(pod),
        pod_template=task.metadata.pod_template_name,
        labels={**metadata.labels, **own.labels},
        annotations={**metadata.annotations, **own.annotations},
        requests={**_resources(task.container.resources.requests), **_resources(said.resources.requests)},
        limits={**_resources(task.container.resources.limits), **_resources(said.resources.limits)},
        accelerator=_accelerator(extended),
        shared_memory=_shared_memory(extended),
        secrets=tuple(encoded(secret) for secret in task.security_context.secrets),
        service_account=task.security_context.run_as.k8s_service_account,
        config=dict(task.config),
        custom=json.dumps(as_json(task.custom), sort_keys=True).encode() if task.HasField("custom") else b"",
    )


def as_json(struct: struct_pb2.Struct) -> Json:
    """Whole numbers become integers again: a `Struct` knows no others than floats, and ports are none."""
    found: Json = json_format.MessageToDict(struct)
    return {key: _whole(value) for key, value in found.items()}


def _whole(value: Value) -> Value:
    match value:
        case dict():
            return {key: _whole(item) for key, item in value.items()}
        case list():
            return [_whole(item) for item in value]
        case float() if value.is_integer():
            return int(value)
    return value


def _objects(value: Value) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _only(pod: Json) -> str:
    """The name of a container that has no other beside it."""
    containers = _objects(pod.get("containers"))
    return str(containers[0].get("name") or "") if len(containers) == 1 else ""


def _resources(entries: Iterable[tasks_pb2.Resources.ResourceEntry]) -> dict[str, str]:
    return {_NAMES[entry.name]: entry.value for entry in entries if entry.name in _NAMES and entry.value}


def _accelerator(extended: tasks_pb2.ExtendedResources) -> Accelerator | None:
    if not extended.HasField("gpu_accelerator"):
        return None
    gpu = extended.gpu_accelerator
    return Accelerator(gpu.device, gpu.partition_size, gpu.unpartitioned)


def _shared_memory(extended: tasks_pb2.ExtendedResources) -> SharedMemory | None:
    if not extended.HasField("shared_memory"):
        return None
    memory = extended.shared_memory
    return SharedMemory(memory.mount_path or "/dev/shm", memory.mount_name or "flyte-shared-memory", memory.size_limit)


def encoded(secret: security_pb2.Secret) -> str:
    """A secret as Flyte's webhook takes it: protobuf text in a base 32 of lower-case letters and digits."""
    text = base64.b32encode(text_format.MessageToString(secret).encode())
    return text.translate(bytes.maketrans(_STANDARD_BASE32, _FLYTES_BASE32)).decode().rstrip()
