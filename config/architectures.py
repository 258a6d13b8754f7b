"""The settings of architecture routing: which nodes a cluster has for each architecture, and what holds by default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from config.group import Group
from config.values import Named, Seconds, Text, by_project

ArchitectureName = Literal["amd64", "arm64", "arm-v6", "arm-v7"]
_AFFINITIES = {"nodeAffinity", "podAffinity", "podAntiAffinity"}


def _affinity(value: Mapping[str, object]) -> Mapping[str, object]:
    if set(value) - _AFFINITIES:
        raise PydanticCustomError("affinity", "Input should be a map with nodeAffinity, podAffinity, podAntiAffinity")
    return value


LABELS = Named("map of node label to value")


class Toleration(Group):
    """Of a pod, as Kubernetes has it."""

    key: str = ""
    """Key of the taint; empty, with operator `Exists`, tolerates every taint."""
    operator: Literal["Equal", "Exists"] = "Equal"
    """How the taint's value is compared."""
    value: str = ""
    """Value of the taint."""
    effect: Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"] = ""
    """Effect of the taint; empty = all."""
    toleration_seconds: Annotated[int | None, Field(alias="tolerationSeconds"), Named("whole number")] = None
    """Seconds for which a NoExecute taint is tolerated; null = for ever."""


Tolerations = Annotated[Sequence[Toleration], Named("list of tolerations"), AfterValidator(tuple)]


class Pool(Group):
    """Nodes, and what a pod must say to run on them."""

    node_selector: Annotated[Mapping[str, str] | None, LABELS] = None
    """Labels that a node must have. null = the label that every node carries, `kubernetes.io/arch`."""
    tolerations: Tolerations = ()
    """Taints of these nodes, as a pod spec writes its tolerations."""
    affinity: Annotated[Mapping[str, object], Named("affinity of a pod spec"), AfterValidator(_affinity)] = {}
    """Further rules, as a pod spec writes its affinity."""
    runtime_class: Text | None = None
    """The RuntimeClass of its pods."""
    autoscaled: bool = False
    """An autoscaler makes such nodes when pods wait for them: tasks are not refused while there is none."""


ArchitecturePool = Annotated[Pool | None, Named("node pool")]


class Architectures(Group):
    """Which CPU architectures the cluster has nodes of, and which one tasks get that do not say theirs. An architecture
    that is null is not there: a task for it fails at once. See [architecture routing](architecture-routing.md)."""

    amd64: ArchitecturePool = None
    """Nodes with x86-64 CPUs; `{}` configures them with Kubernetes' own label."""
    arm64: ArchitecturePool = None
    """Nodes with 64-bit ARM CPUs."""
    arm_v6: ArchitecturePool = None
    """Nodes with 32-bit ARM CPUs of version 6. Kubernetes' label is `arm` for both versions, so give these a selector
    of their own where the cluster has both."""
    arm_v7: ArchitecturePool = None
    """Nodes with 32-bit ARM CPUs of version 7."""
    default: ArchitectureName | None = None
    """Of tasks for which nobody says an architecture. null = they may run on any node."""
    defaults: Annotated[
        Mapping[str, ArchitectureName], Named("map of PROJECT:DOMAIN to architecture"), AfterValidator(by_project)
    ] = {}
    """The same for the executions of a project and domain; wins over `architectures.default`."""
    fail_fast: bool = True
    """Fail a task at once when the cluster has no ready node of its architecture and no autoscaler makes one. Off: its
    pod waits."""
    verify_images: bool = False
    """Before a pod is made, ask the image's registry whether the image is built for the architecture; if it is not, the
    task fails at once. A registry that can't be reached fails no task."""
    registry_auth_file: Text | None = None
    """File with the credentials of registries, as `docker login` writes it (a pull secret's `.dockerconfigjson`).
    null = registries are asked without any."""
    registry_seconds: Annotated[Seconds, Field(gt=0)] = 5.0
    """Seconds that all questions about one image may take, before the task goes on without an answer."""

    @field_validator("default", "defaults")
    @classmethod
    def _configured(cls, value: object, info: ValidationInfo) -> object:
        """Every task without an architecture of its own would fail otherwise."""
        named = list(value.values()) if isinstance(value, Mapping) else [value]
        for name in named:
            field = str(name).replace("-", "_")
            if name is not None and field in info.data and info.data[field] is None:
                raise PydanticCustomError(
                    "configured",
                    "Input should be an architecture that is configured, and architectures.{field} is null",
                    {"field": field},
                )
        return value


class Interruptible(Group):
    """Capacity that can be taken away (spot, preemptible), for attempts of tasks that may be interrupted. It is added
    to what the architecture asks for."""

    node_selector: Annotated[Mapping[str, str], LABELS] = {}
    """Labels that a node for such attempts must have."""
    tolerations: Tolerations = ()
    """Taints of such nodes that these attempts tolerate, as a pod spec writes its tolerations."""
