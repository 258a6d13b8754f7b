"""The pod of an attempt, as a pure function of what is asked and what the operator has decided."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import json

from engine.adapters.kubernetes.carrying import carry
from engine.adapters.kubernetes.merging import laid_over, merged
from engine.adapters.kubernetes.naming import FINALIZER, GROUP, KEY, UPLOADS, Json, label_value, pod_name, written
from engine.adapters.kubernetes.options import PodOptions
from engine.adapters.kubernetes.quantities import settle
from engine.adapters.kubernetes.scheduling import accelerate, place, tolerate
from engine.model.errors import ErrorKind, Failure, Permanent
from engine.model.podneeds import SharedMemory
from engine.ports.taskrunner import TaskRequest

PRIMARY = "primary_container_name"
"""Flyte's annotation with the name of the container that runs the task."""
SECRETS, WITH_SECRETS = "flyte.secrets/s", "inject-flyte-secrets"


def pod_of(request: TaskRequest, group: str, options: PodOptions, template: Json | None = None) -> Json:
    """The manifest, without a namespace. `template`: the `template` of the PodTemplate that the cluster has for it.

    Raises Permanent (USER) for what can't be built: FailedToBuildResource, BadTaskSpecification, ArchitectureConflict.
    """
    needs = request.pod
    base = template if template is not None else _decoded(options.template)
    own = _decoded(needs.pod) or {"containers": [{"name": pod_name(request.key)}]}
    primary = needs.primary or own["containers"][0]["name"]
    if primary not in [container.get("name") for container in own.get("containers", [])]:
        raise _unbuildable(f"the pod of {request.task.id} has no container {primary!r}, which is to run the task")
    if request.container is not None:
        carry(own, primary, request.container, options, pod_name(request.key))
    spec = laid_over(base.get("spec", {}), own, primary)
    _set_containers(spec, primary, request, options)
    spec["restartPolicy"] = "Never"
    if account := needs.service_account or spec.get("serviceAccountName") or options.service_account:
        spec["serviceAccountName"] = account
    if options.priority_class:
        spec.setdefault("priorityClassName", options.priority_class)
    _tolerate_resources(spec, options)
    accelerate(spec, needs.accelerator, options)
    place(spec, request.placement, f"the pod of {request.task.id}, with its templates,")
    metadata = _metadata(request, group, options, base.get("metadata", {}), primary)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _decoded(data: bytes) -> Json:
    """A fresh object each time, so that no pod changes another."""
    return json.decode(data, type=Json) if data else {}


def _unbuildable(message: str) -> Permanent:
    return Permanent(Failure("FailedToBuildResource", ErrorKind.USER, f"{message}; nothing was started"))


def _set_containers(spec: Json, primary: str, request: TaskRequest, options: PodOptions) -> None:
    needs = request.pod
    for container in spec["containers"]:
        if container["name"] != primary:
            settle(container, {}, {}, options, defaults=False)
            continue
        if request.image:
            container["image"] = request.image
        words = needs.command_words
        for field, said in (("command", request.argv[:words]), ("args", request.argv[words:])):
            container.pop(field, None)
            if said:
                container[field] = list(said)
        container["env"] = _env(container.get("env", []), request, options)
        if request.code_root and options.shared_folders:
            container.setdefault("workingDir", request.code_root)
        container.setdefault("terminationMessagePolicy", "FallbackToLogsOnError")
        settle(container, needs.requests, needs.limits, options, defaults=True)
        if needs.shared_memory is not None:
            _share_memory(spec, container, needs.shared_memory)
    for container in spec.get("initContainers", []):
        settle(container, {}, {}, options, defaults=False)


def _env(own: list[Json], request: TaskRequest, options: PodOptions) -> list[Json]:
    """Plain values by name; what comes from a secret or a field stays, unless somebody gives it a plain value."""
    values: Mapping[str, str] = request.env
    if request.code_root and options.shared_folders:
        values = {"PYTHONPATH": request.code_root, **values}
    entries: dict[str, Json] = {name: {"name": name, "value": value} for name, value in options.env.items()}
    entries |= {entry["name"]: entry for entry in own}
    entries |= {name: {"name": name, "value": value} for name, value in values.items()}
    return list(entries.values())


def _share_memory(spec: Json, container: Json, wanted: SharedMemory) -> None:
    source: Json = {"medium": "Memory", **({"sizeLimit": wanted.size_limit} if wanted.size_limit else {})}
    spec["volumes"] = merged(spec.get("volumes", []), [{"name": wanted.name, "emptyDir": source}], "volumes")
    mount = {"name": wanted.name, "mountPath": wanted.path}
    container["volumeMounts"] = merged(container.get("volumeMounts", []), [mount], "volumeMounts")


def _tolerate_resources(spec: Json, options: PodOptions) -> None:
    asked = {name for container in spec["containers"] for name in container.get("resources", {}).get("requests", {})}
    for resource, tolerations in json.decode(options.resource_tolerations, type=dict[str, list[Json]]).items():
        if resource in asked:
            tolerate(spec, tolerations)


def _metadata(request: TaskRequest, group: str, options: PodOptions, base: Json, primary: str) -> Json:
    key, needs, execution = request.key, request.pod, request.key.execution
    labels = {**options.labels, **base.get("labels", {}), **needs.labels}
    labels |= {
        "execution-id": label_value(execution.name),
        "project": label_value(execution.project),
        "domain": label_value(execution.domain),
        "workflow-name": label_value(needs.workflow),
        "node-id": label_value(key.path),
        "task-name": label_value(request.task.id.name),
        "interruptible": str(request.interruptible).lower(),
        GROUP: group,
    }
    labels |= request.placement.labels
    annotations = {**options.annotations, **base.get("annotations", {}), **needs.annotations}
    annotations |= {KEY: written(key), PRIMARY: primary}
    if request.container is not None and request.container.mounts:
        annotations[UPLOADS] = "true"
    if needs.secrets:
        labels[WITH_SECRETS] = "true"
        annotations |= {f"{SECRETS}{number}": secret for number, secret in enumerate(needs.secrets)}
    metadata: Json = {"name": pod_name(key), "labels": labels, "annotations": annotations}
    if options.finalizer:
        metadata["finalizers"] = [FINALIZER]
    if options.owner:
        metadata["ownerReferences"] = [_decoded(options.owner)]
    return metadata
