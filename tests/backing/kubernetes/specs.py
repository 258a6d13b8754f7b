"""What the test kubelet reads of a pod."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec
from msgspec import Struct, field

NODE_LABEL = "propwash.dev/test-node"
"""Nodes with it are the test kubelet's."""
SCRIPT = "propwash.dev/test-script"
"""Annotation of a pod that is played, not run."""
SCRIPT_VARIABLE = "PROPWASH_TEST_SCRIPT"
"""The same in the environment of its first container."""
ATTEMPT_VARIABLE = "FLYTE_ATTEMPT_NUMBER"
_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_.][-A-Za-z0-9_.]*)\)")


class KeyOf(Struct, frozen=True):
    """A key of a Secret or a ConfigMap."""

    name: str
    key: str
    optional: bool = False


class FieldOf(Struct, frozen=True, rename="camel"):
    field_path: str


class Source(Struct, frozen=True, rename="camel"):
    field_ref: FieldOf | None = None
    secret_key_ref: KeyOf | None = None
    config_map_key_ref: KeyOf | None = None


class Variable(Struct, frozen=True, rename="camel"):
    name: str
    value: str = ""
    value_from: Source | None = None


class Container(Struct, frozen=True, rename="camel"):
    name: str
    image: str = ""
    command: list[str] = []
    args: list[str] = []
    env: list[Variable] = []
    working_dir: str = ""
    restart_policy: str = ""
    """Always makes a sidecar of an init container."""
    termination_message_policy: str = "File"


class Spec(Struct, frozen=True, rename="camel"):
    containers: list[Container]
    init_containers: list[Container] = []
    node_name: str = ""
    active_deadline_seconds: float | None = None


class Metadata(Struct, frozen=True, rename="camel"):
    name: str
    namespace: str
    uid: str
    annotations: dict[str, str] = {}
    labels: dict[str, str] = {}
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None


class Status(Struct, frozen=True, rename="camel"):
    phase: str = ""


class Pod(Struct, frozen=True):
    metadata: Metadata
    spec: Spec
    status: Status = field(default_factory=Status)

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.metadata.namespace}/pods/{self.metadata.name}"

    @property
    def ended(self) -> bool:
        return self.status.phase in ("Succeeded", "Failed")


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """How a pod goes that is played: it waits, runs and ends, as long and as asked. No process is started."""

    waits: str = ""
    """Reason of a waiting container, e.g. ImagePullBackOff."""
    waits_seconds: float | None = None
    """Before it runs after all; None: it never does."""
    runs_seconds: float | None = 0.0
    """None: until it is deleted."""
    exit: int = 0
    reason: str = ""
    """Of the end: OOMKilled is the container's; Evicted, Preempting, NodeShutdown, Terminated are the pod's."""
    message: str = ""
    stubborn: bool = False
    """It does not heed SIGTERM."""
    copies: bool = False
    """It writes outputs as flytekit would: the k-th declared output is the k-th input."""


POD_REASONS = {"Evicted", "Preempting", "NodeShutdown", "Terminated", "DeadlineExceeded", "UnexpectedAdmissionError"}
DISRUPTIONS = {
    "Evicted": "TerminationByKubelet",
    "Preempting": "PreemptionByScheduler",
    "Terminated": "DeletionByTaintManager",
}


def script_of(pod: Pod) -> Script | None:
    """Of a list, the one for the pod's attempt; the last one for all that follow. Raises msgspec.ValidationError."""
    first = pod.spec.containers[0]
    text = pod.metadata.annotations.get(SCRIPT) or next((v.value for v in first.env if v.name == SCRIPT_VARIABLE), "")
    if not text:
        return None
    scripts = msgspec.json.decode(text, type=Script | list[Script])
    if isinstance(scripts, Script):
        return scripts
    attempt = next((int(v.value) for v in first.env if v.name == ATTEMPT_VARIABLE), 0)
    return scripts[min(attempt, len(scripts) - 1)]


def fields_of(pod: Pod) -> Mapping[str, str]:
    """What a fieldRef can name."""
    meta = pod.metadata
    known = {"metadata.name": meta.name, "metadata.namespace": meta.namespace, "metadata.uid": meta.uid}
    known |= {"spec.nodeName": pod.spec.node_name, "status.podIP": "127.0.0.1", "status.hostIP": "127.0.0.1"}
    known |= {f"metadata.labels['{name}']": value for name, value in meta.labels.items()}
    return known | {f"metadata.annotations['{name}']": value for name, value in meta.annotations.items()}


def expanded(text: str, env: Mapping[str, str]) -> str:
    """`$(NAME)` as a kubelet expands it: an unknown name stays as it is, `$$` is a dollar sign."""
    return _REFERENCE.sub(lambda m: "$" if m[0] == "$$" else env.get(m[1], m[0]), text)
