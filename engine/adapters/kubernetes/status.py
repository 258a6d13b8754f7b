"""A pod as the engine keeps it: of a whole object only what verdicts need, so that a thousand of them take little.

The rest is skipped while the JSON is read, whatever its size.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Raw, Struct, field

from engine.adapters.kubernetes.naming import FINALIZER, GROUP, KEY, UPLOADS, read_key
from engine.adapters.kubernetes.spec import PRIMARY
from engine.model.ids import AttemptKey


class Waiting(Struct, frozen=True):
    reason: str = ""
    message: str = ""


class Running(Struct, frozen=True, rename="camel"):
    started_at: datetime | None = None


class Terminated(Struct, frozen=True, rename="camel"):
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None


class State(Struct, frozen=True):
    waiting: Waiting | None = None
    running: Running | None = None
    terminated: Terminated | None = None


class Container(Struct, frozen=True):
    name: str
    state: State = State()
    image: str = ""
    container_id: str = field(default="", name="containerID")


class Condition(Struct, frozen=True, rename="camel"):
    type: str
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None


class Status(Struct, frozen=True, rename="camel"):
    phase: str = "Pending"
    reason: str = ""
    message: str = ""
    conditions: list[Condition] = []
    container_statuses: list[Container] = []
    init_container_statuses: list[Container] = []


class Annotations(Struct, frozen=True):
    key: str = field(default="", name=KEY)
    primary: str = field(default="", name=PRIMARY)
    uploads: str = field(default="", name=UPLOADS)


class Labels(Struct, frozen=True):
    group: str = field(default="", name=GROUP)


class Metadata(Struct, frozen=True, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    finalizers: list[str] = []
    annotations: Annotations = Annotations()
    labels: Labels = Labels()


class Spec(Struct, frozen=True, rename="camel"):
    node_name: str = ""
    termination_grace_period_seconds: int = 30


class Thing(Struct, frozen=True):
    """What an attempt is in the cluster: a pod, or what another operator makes pods of."""

    metadata: Metadata = Metadata()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def uid(self) -> str:
        return self.metadata.uid

    @property
    def key(self) -> AttemptKey | None:
        """None: it was made by no engine."""
        return read_key(self.metadata.annotations.key)

    @property
    def leaving(self) -> bool:
        """Somebody has deleted it; it may still run."""
        return self.metadata.deletion_timestamp is not None

    @property
    def held(self) -> bool:
        """It can't go before the engine lets it."""
        return FINALIZER in self.metadata.finalizers

    @property
    def over(self) -> bool:
        """Nothing of it runs any more, nor ever will, though it is still there."""
        return False

    @property
    def grace_seconds(self) -> int:
        """That it has to end when it is deleted."""
        return 0


class Resource(Thing, frozen=True):
    """A custom resource; what its status means is said by the settings."""

    status: dict[str, Any] = {}


class Pod(Thing, frozen=True):
    spec: Spec = Spec()
    status: Status = Status()

    @property
    def over(self) -> bool:
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def grace_seconds(self) -> int:
        return self.spec.termination_grace_period_seconds

    def primary(self) -> Container | None:
        """The container that runs the task; None: nothing is known of it yet."""
        statuses, name = self.status.container_statuses, self.metadata.annotations.primary
        return next((it for it in statuses if it.name == name), None)

    def condition(self, type: str) -> Condition | None:
        return next((it for it in self.status.conditions if it.type == type), None)


class Page(Struct, frozen=True):
    """A part of a list. An answer without a version is none: it must not pass for a namespace without pods."""

    class Meta(Struct, frozen=True, rename="camel"):
        resource_version: str
        continue_token: str = field(default="", name="continue")

    metadata: Meta
    items: list[Raw] | None = None


def seconds(time: datetime | None) -> float:
    """Unix seconds; 0 for a time that nobody has told."""
    return time.timestamp() if time else 0.0
