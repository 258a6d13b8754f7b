"""Where the pod of a task may run: what its architecture, and that it may be interrupted, ask of a node.

Field names, and their camel-case form in JSON, are those of a Kubernetes pod spec.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from engine.model.architectures import PLAN_LABEL, Architecture
from engine.model.ids import ExecutionId

NOT_CONFIGURED = "ArchitectureNotConfigured"
CONFLICT = "ArchitectureConflict"
UNKNOWN = "ArchitectureUnknown"
UNAVAILABLE = "ArchitectureUnavailable"
NOT_BUILT = "ImageNotBuiltForArchitecture"
"""Codes of the failures that routing gives, all of kind USER and final: nobody has configured nodes for it; a pod or
the settings contradict it; it is the name of none; there is no such node now; the image is for another one."""
CODES = frozenset({NOT_CONFIGURED, CONFLICT, UNKNOWN, UNAVAILABLE, NOT_BUILT})
NODE_LABEL = "kubernetes.io/arch"
"""The label that every node of a cluster carries (set by its kubelet)."""


def node_label(architecture: Architecture | None) -> str:
    """The value of that label; empty where there is no architecture."""
    if architecture is None:
        return ""
    return "arm" if architecture in (Architecture.ARM_V6, Architecture.ARM_V7) else architecture.value


class Toleration(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """`msgspec.to_builtins` gives it as a pod spec has it."""

    key: str = ""
    operator: Literal["Equal", "Exists"] = "Equal"
    value: str = ""
    effect: str = ""
    """NoSchedule, PreferNoSchedule or NoExecute; empty = all of them."""
    toleration_seconds: int | None = None


class NodePool(Struct, frozen=True):
    """What a pod must say to run on certain nodes, as an operator has configured it."""

    node_selector: Mapping[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()
    affinity: Mapping[str, object] = {}
    """A pod spec's `affinity`."""
    runtime_class: str = ""
    autoscaled: bool = False
    """Nodes of it are made when a pod waits for one, so that none now is no reason to refuse a task."""


class PlacementRules(Struct, frozen=True):
    """What an operator has configured about architectures."""

    architectures: Mapping[Architecture, NodePool] = {}
    """Those that the cluster has nodes of. Another one can't be chosen."""
    default: Architecture | None = None
    """Of tasks of which nothing else says it; None: they run anywhere."""
    defaults: Mapping[str, Architecture] = {}
    """The same for `PROJECT:DOMAIN`; wins over `default`."""
    interruptible: NodePool = NodePool()
    """Of attempts that may be interrupted: its selector and tolerations."""

    @property
    def speak(self) -> bool:
        """Whether they concern tasks of which nobody says an architecture."""
        spot = self.interruptible
        return bool(self.default or self.defaults or spot.node_selector or spot.tolerations)

    def default_of(self, execution: ExecutionId) -> Architecture | None:
        """Of its project and domain."""
        return self.defaults.get(f"{execution.project}:{execution.domain}")


NO_RULES = PlacementRules()


class Placement(Struct, frozen=True):
    """Where one attempt is to run. What its pod's author says of other keys stands beside it."""

    architecture: Architecture | None = None
    """None: any; the pod gets no label then."""
    node_selector: Mapping[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()
    affinity: Mapping[str, object] = {}
    """A pod spec's `affinity`; what the pod's author requires holds as well."""
    runtime_class: str = ""

    @property
    def labels(self) -> dict[str, str]:
        """Of the pod, by which the admission webhook and people find it."""
        return {PLAN_LABEL: self.architecture.value} if self.architecture else {}


ANYWHERE = Placement()
