"""Settings of tasks as pods: which runner, which clusters, what holds for pods."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from config.architectures import Toleration
from config.group import Group
from config.values import Count, Label, Named, Seconds, Size, Text, by_project

MIB = 2**20
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?\Z")
_VARIABLE = re.compile(r"\{\{\s*(project|domain)\s*\}\}")
_QUANTITY = re.compile(r"[+]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+|[numkMGTPE]|[KMGTPE]i)?\Z")


def _manifest(value: Mapping[str, object]) -> Mapping[str, object]:
    if not isinstance(value.get("apiVersion"), str) or "/" not in str(value["apiVersion"]) or "kind" not in value:
        raise PydanticCustomError("manifest", "Input should be a manifest with apiVersion (GROUP/VERSION) and kind")
    return value


def _pod_template(value: Mapping[str, object]) -> Mapping[str, object]:
    """That it is one, and its containers are, is told here; what fields it may have, when an engine starts."""
    if set(value) - {"metadata", "spec"} or not all(isinstance(part, Mapping) for part in value.values()):
        raise PydanticCustomError("pod_template", "Input should be a map with the maps metadata and spec")
    spec = value.get("spec", {})
    for field in ("containers", "initContainers"):
        members = spec.get(field, []) if isinstance(spec, Mapping) else []
        if not isinstance(members, list) or not all(isinstance(one, Mapping) and "name" in one for one in members):
            raise PydanticCustomError(
                "pod_template",
                "Input should be a map whose spec.{field} is a list of maps with a name",
                {"field": field},
            )
    return value


def _namespace(value: str) -> str:
    """By Kubernetes' rule for names, once its variables have theirs."""
    if not _LABEL.match(_VARIABLE.sub("x", value)):
        raise PydanticCustomError(
            "namespace",
            "Input should be a namespace: a-z, 0-9 and '-', with the variables {variables}",
            {"variables": "{{ project }} and {{ domain }}"},
        )
    return value


def _quantities(value: Mapping[str, str]) -> Mapping[str, str]:
    if wrong := sorted(key for key, amount in value.items() if not _QUANTITY.match(amount)):
        raise PydanticCustomError(
            "quantities",
            "Input should be a map of resource to quantity, such as 500m or 2Gi: {key} is none",
            {"key": wrong[0]},
        )
    return value


class CustomResource(Group):
    """How tasks of one type are run by another operator."""

    template: Annotated[Mapping[str, object], Named("manifest"), AfterValidator(_manifest)]
    """The custom resource, with `apiVersion` and `kind`; its variables are those of
    [tasks as pods](kubernetes.md#tasks-that-other-operators-run)."""
    plural: Text
    """Its name in the API, e.g. `pytorchjobs`."""
    succeeded: Text = "status.conditions[type=Succeeded].status=True"
    """PATH=VALUE that says that it has succeeded."""
    failed: Text = "status.conditions[type=Failed].status=True"
    """The same for its failure."""
    message: Text | None = "status.conditions[type=Failed].message"
    """Path of the text that says why it failed."""
    container: Text | None = None
    """What the operator wants the container to be called that runs the task."""


class Tasks(Group):
    """Where tasks run."""

    runner: Literal["processes", "kubernetes"] = "processes"
    """`processes`: on this machine (see `processes`). `kubernetes`: as pods (see `kubernetes` and `pods`), which
    outlive the engine."""


class Kubernetes(Group):
    """The clusters that tasks run in. See [tasks as pods](kubernetes.md)."""

    kubeconfig: Text | None = None
    """Path of the file with clusters and users. null = what `KUBECONFIG` names, else the service account of the pod
    that the engine runs in, else `~/.kube/config`."""
    context: Text | None = None
    """Of the kubeconfig. null = the current one."""
    contexts: Annotated[Mapping[str, str], Named("map of PROJECT:DOMAIN to context"), AfterValidator(by_project)] = {}
    """The same for the executions of a project and domain; wins over `kubernetes.context`."""
    namespace: Annotated[Text, AfterValidator(_namespace)] = "{{ project }}-{{ domain }}"
    """Of the pods of an execution; it must be there. The default is Flyte's."""
    group: Label | None = None
    """Name of the engines that share pods, which carry it as a label: an engine looks only at those of its own group.
    null = `kafka.group`, or a name that a home makes for itself."""
    custom_resources: Annotated[Mapping[str, CustomResource], Named("map of task type to custom resource")] = {}
    """Tasks that another operator runs (Spark, PyTorch, Ray ...), by their type: `template`, `plural`, `succeeded`,
    `failed`, `message`, `container`. See [tasks as pods](kubernetes.md#tasks-that-other-operators-run)."""
    max_pods: Count | None = None
    """Attempts at once, of one engine; null = any number."""
    calls_per_second: Annotated[float, Field(gt=0), Named("number")] = 100.0
    """Calls of the API server, on average."""
    burst: Count = 100
    """Calls that may be made at once before that counts."""
    parallel_creations: Count = 32
    """Pods that are being made at once; executions take turns."""
    idle_seconds: Annotated[Seconds, Field(ge=1)] = 60.0
    """Seconds of silence after which a watch is taken for dead."""
    resync_seconds: Annotated[Seconds, Field(ge=1)] = 300.0
    """Seconds between complete looks at all pods, whatever the watches tell."""
    trouble_seconds: Seconds = 300.0
    """Seconds that the API server may answer nothing, or with errors of its own (5xx), before an attempt whose pod is
    not made yet fails (SYSTEM, tried again as `retries.max_system_failures` says). 0: any time."""


class Pods(Group):
    """What holds for all pods."""

    template: Annotated[Mapping[str, object], Named("pod template"), AfterValidator(_pod_template)] = {}
    """`metadata` and `spec` of a PodTemplate that every pod is laid over: tolerations, selectors, affinity, security
    contexts, volumes. Its containers `default`, `primary`, `default-init` and `primary-init` stand for the task's."""
    template_name: Text | None = None
    """A PodTemplate of the cluster, in place of `pods.template`, for tasks that name none."""
    requests: Annotated[Mapping[str, str], Named("map of resource to quantity"), AfterValidator(_quantities)] = {
        "cpu": "100m",
        "memory": "500Mi",
    }
    """Of the container that runs the task, where nobody says more; the limits are the same then. The defaults are those
    of Flyte's chart."""
    limits: Annotated[Mapping[str, str], Named("map of resource to quantity"), AfterValidator(_quantities)] = {}
    """The most that a container gets; who asks for more gets this much, as in Flyte."""
    gpu_resource: Text = "nvidia.com/gpu"
    """What flytekit's `gpu` is called in the cluster."""
    accelerator_label: Text = "k8s.amazonaws.com/accelerator"
    """Label, and key of the taint, of nodes with a kind of GPU."""
    partition_label: Text = "k8s.amazonaws.com/gpu-partition-size"
    """The same for parts of GPUs."""
    resource_tolerations: Annotated[Mapping[str, list[Toleration]], Named("map of resource to tolerations")] = {}
    """Tolerations of pods that ask for a resource."""
    labels: Annotated[Mapping[str, str], Named("map of name to text")] = {}
    """Of every pod, under what anybody else says."""
    annotations: Annotated[Mapping[str, str], Named("map of name to text")] = {
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false"
    }
    """The same. The default is Flyte's: an autoscaler does not move a running task."""
    env: Annotated[Mapping[str, str], Named("map of name to text")] = {}
    """Variables of every task, under what anybody else says."""
    service_account: Text | None = None
    """Of pods for which neither the execution nor the task says one."""
    priority_class: Text | None = None
    """Of pods that say none."""
    image_grace_seconds: Seconds = 180.0
    """Seconds that an image may be missing before the attempt fails (USER, tried again if the author asked for
    retries)."""
    create_grace_seconds: Seconds = 180.0
    """Seconds that a container may fail to be made (CreateContainerError) before the node fails."""
    config_grace_seconds: Seconds = 0.0
    """The same where something it refers to is missing (CreateContainerConfigError)."""
    pending_seconds: Seconds = 0.0
    """Seconds from a pod's creation to the start of its task before the attempt fails (`PodPendingTimeout`). 0: any
    time."""
    keep_failed: Seconds = 3600.0
    """Seconds that the pod of a failed attempt is kept, unless the next attempt starts before."""
    keep_succeeded: Seconds = 60.0
    """The same of one that succeeded."""
    stop_seconds: Annotated[Seconds, Field(gt=0)] = 60.0
    """Seconds after which a deleted pod that does not end is deleted by force."""
    finalizer: bool = False
    """Hold deleted pods until the engine has seen how they ended. A pod can't be deleted then while no engine runs."""
    owner: Annotated[Mapping[str, object], Named("owner reference")] = {}
    """Of every pod: what they are deleted with, e.g. a ConfigMap of the installation."""
    log_limit: Annotated[Size, Field(ge=1024)] = 10 * MIB
    """Bytes kept of what a task prints, head and tail."""
    log_links: Annotated[Mapping[str, str], Named("map of name to text")] = {}
    """Links to where logs are kept, by name, told with failures. Variables as in Flyte's templates, e.g.
    `https://logs/{{ .namespace }}/{{ .podName }}`."""
    engine_image: Text | None = None
    """The engine's own image. It runs beside raw containers (flytekit's `ContainerTask`), to carry their inputs and
    outputs; null = workflows that reach such a task are refused."""
    shared_folders: bool = False
    """Pods see the folders of the engine's machine by the same paths (one-machine clusters): the store may be a folder
    then, and tasks find their modules where the engine has them."""
