"""What a task, its node and its execution ask of the pod that runs an attempt: Kubernetes' words, no flyteidl.

JSON stays serialized (`bytes`), so that nobody changes what others read.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

GPU = "gpu"
"""The resource that an operator's settings give its real name, e.g. `nvidia.com/gpu`."""


class Accelerator(Struct, frozen=True):
    """Which kind of GPU; means nothing where no container asks for one."""

    device: str
    partition: str = ""
    """A part of a device, e.g. `1g.5gb`."""
    unpartitioned: bool = False
    """Only a whole device will do."""


class SharedMemory(Struct, frozen=True):
    """A folder in memory, mounted into the container that runs the task."""

    path: str
    name: str
    size_limit: str = ""
    """A quantity; empty = no limit of its own."""


class PodNeeds(Struct, frozen=True):
    pod: bytes = b""
    """JSON of the author's own pod spec, templates rendered; empty = none."""
    primary: str = ""
    """The container of `pod` that runs the task."""
    pod_template: str = ""
    """Name of a PodTemplate of the cluster that everything else is laid over; empty = the operator's, if any."""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    """Of the execution, over those of the task, over those of the author's pod."""
    requests: Mapping[str, str] = {}
    limits: Mapping[str, str] = {}
    """Of the container that runs the task: Kubernetes' name of a resource, or GPU -> quantity."""
    accelerator: Accelerator | None = None
    shared_memory: SharedMemory | None = None
    secrets: tuple[str, ...] = ()
    """As Flyte's webhook for secrets reads them from annotations."""
    service_account: str = ""
    command_words: int = 0
    """The first words of the attempt's argv stand in place of the image's entry point, the others are its arguments."""
    workflow: str = ""
    """Name of the execution's workflow."""
    config: Mapping[str, str] = {}
    """Of the task template."""
    custom: bytes = b""
    """JSON of what the task's own plugin for flytekit has said; empty = nothing."""
