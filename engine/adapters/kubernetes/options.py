"""What an operator has decided about pods and clusters."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

Json = Mapping[str, object]


class LogLink(Struct, frozen=True):
    name: str
    uri: str
    """With Flyte's variables, e.g. `{{ .podName }}`."""


class GpuLabels(Struct, frozen=True):
    """Labels, and keys of taints, of nodes with GPUs."""

    device: str = "k8s.amazonaws.com/accelerator"
    partition: str = "k8s.amazonaws.com/gpu-partition-size"


class PodOptions(Struct, frozen=True):
    template: bytes = b""
    """JSON of a PodTemplate's `template` (metadata and spec) that every pod is laid over; empty = none."""
    template_name: str = ""
    """Of a PodTemplate of the cluster, for tasks that name none; wins over `template`."""
    requests: Mapping[str, str] = field(default_factory=lambda: {"cpu": "100m", "memory": "500Mi"})
    """Of the container that runs the task, where nobody says more. The defaults are those of Flyte's chart."""
    limits: Mapping[str, str] = {}
    """The most that a container may ask for; what asks for more gets this much."""
    gpu_resource: str = "nvidia.com/gpu"
    gpu_labels: GpuLabels = GpuLabels()
    resource_tolerations: bytes = b"{}"
    """JSON: name of a resource -> tolerations of pods that ask for it."""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = field(
        default_factory=lambda: {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
    )
    env: Mapping[str, str] = {}
    """Of every task's container, under what anybody else says."""
    service_account: str = ""
    priority_class: str = ""
    image_grace_seconds: float = 180.0
    create_grace_seconds: float = 180.0
    config_grace_seconds: float = 0.0
    pending_seconds: float = 0.0
    """0 = no limit."""
    keep_failed_seconds: float = 3600.0
    keep_succeeded_seconds: float = 60.0
    stop_seconds: float = 60.0
    """After which a pod that does not end is deleted by force."""
    finalizer: bool = False
    owner: bytes = b""
    """JSON of an owner reference of every pod; empty = none."""
    engine_image: str = ""
    """The engine's own image, for what runs beside raw containers; empty = there is none, so they can't run."""
    shared_folders: bool = False
    """Pods see the folders of the engine's machine, with the modules of the tasks in them."""
    log_limit: int = 10 * 2**20
    """Bytes kept of what a pod prints."""
    log_links: tuple[LogLink, ...] = ()


class ClusterOptions(Struct, frozen=True):
    kubeconfig: str | None = None
    context: str | None = None
    contexts: Mapping[str, str] = {}
    """Of the kubeconfig, for `PROJECT:DOMAIN`; wins over `context`."""
    namespace: str = "{{ project }}-{{ domain }}"
    group: str = "propwash"
    per_second: float = 100.0
    burst: int = 100
    calls: int = 32
    """Pods that are being made at once; connections there may be twice as many."""
    idle_seconds: float = 60.0
    resync_seconds: float = 300.0
    trouble_seconds: float = 300.0
    """Of trouble of the API server after which an attempt without a pod is given up; 0 = never."""
