"""What the HTTP API is asked and what it answers: types that check requests and make the OpenAPI document."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from engine.model.architectures import ArchitectureName
from engine.model.overrides import Overrides
from engine.model.phases import ExecutionPhase


class Submission(Struct, frozen=True, forbid_unknown_fields=True):
    """Start an execution of what is registered. With a name, the same submission twice is the same as once."""

    entity: str
    """NAME or NAME:VERSION of a launch plan, workflow or task; a unique ending of the name will do."""
    inputs: dict[str, object] = {}
    """By name, as natural JSON. Paths are those of the engine's machine."""
    project: str | None = None
    domain: str | None = None
    name: str | None = None
    """A DNS label; null = a random one."""
    overwrite_cache: bool = False
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    envs: dict[str, str] = {}
    interruptible: bool | None = None
    max_parallelism: int = 0
    raw_output_prefix: str = ""
    architecture: ArchitectureName = ""
    service_account: str = ""

    def overrides(self) -> Overrides:
        return Overrides(**{name: getattr(self, name) for name in Overrides.__struct_fields__})


class Abort(Struct, frozen=True, forbid_unknown_fields=True):
    """Stop an execution and the child executions it has started."""

    reason: str = "asked for by the HTTP API"


class SignalValue(Struct, frozen=True, forbid_unknown_fields=True):
    """Answer the gates of one id: exactly one of the two."""

    value: object | UnsetType = UNSET
    """For `wait_for_input`, as natural JSON."""
    approve: bool | UnsetType = UNSET
    """For `approve`: true lets it pass, false refuses it."""


class Recovery(Struct, frozen=True, forbid_unknown_fields=True):
    """A new execution that takes over what succeeded in one that failed or was aborted."""

    name: str | None = None
    """A DNS label; null = a random one."""


class Relaunch(Struct, frozen=True, forbid_unknown_fields=True):
    """A new execution of the same workflow with the same inputs, from the beginning."""

    name: str | None = None
    """A DNS label; null = a random one."""
    overwrite_cache: bool = False


class Filter(Struct, frozen=True, forbid_unknown_fields=True):
    """Which executions are listed, the newest submission first."""

    phase: tuple[ExecutionPhase, ...] = ()
    """In any of these; repeatable."""
    workflow: str = ""
    """Of this workflow or launch plan: a full name or its ending after a dot."""
    since_seconds: float | None = None
    """Submitted within so many seconds before now."""
    project: str | None = None
    domain: str | None = None
    children: bool = True
    """Those that launch plan nodes started, too."""
    limit: int = 50
    """On one page, 1 to 500."""
    page: str = ""
    """What the page before gave as `next`."""


class OfNode(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose values."""

    node: str = ""
    """Path of a node; empty = the execution itself."""


class Name(Struct, frozen=True):
    project: str
    domain: str
    name: str


class Accepted(Struct, frozen=True):
    """It is durable; what it leads to follows."""

    execution: Name


class Entity(Struct, frozen=True):
    kind: Literal["launch-plan", "workflow", "task"]
    name: str
    version: str


class Problem(Struct, frozen=True):
    """Why a node or an execution failed."""

    code: str
    kind: Literal["USER", "SYSTEM"]
    message: str
    node: str | None


class NodeDocument(Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    kind: str
    task: str | None
    phase: str
    attempts: int
    started_at: str | None
    ended_at: str | None
    inputs_uri: str | None
    outputs_uri: str | None
    cache: str | None
    cached_elements: int | None
    error: Problem | None


class Wait(Struct, frozen=True, rename={"for_": "for"}):
    """What a node that has not ended waits for."""

    node: str
    for_: str
    until: str | None
    signal: str | None


class ExecutionDocument(Struct, frozen=True, forbid_unknown_fields=True):
    """What `propwash get --json` prints; docs/cli.md says what each field means."""

    execution: Name
    entity: Entity
    labels: dict[str, str]
    phase: ExecutionPhase
    outputs: dict[str, object] | None
    error: Problem | None
    nodes: list[NodeDocument]
    home: str
    waiting: list[Wait] | UnsetType = UNSET
    """Of an execution that has not ended."""


class Summary(Struct, frozen=True):
    """One execution in a list."""

    execution: Name
    entity: Entity
    phase: ExecutionPhase
    submitted_at: str | None
    started_at: str | None
    ended_at: str | None
    parent: Name | None
    error: Problem | None


class Page(Struct, frozen=True):
    executions: list[Summary]
    next: str | None
    """Give it as `page` for those that follow; null = there are none."""


class Values(Struct, frozen=True):
    values: dict[str, object]
    """Natural JSON by name; a large value is `{"offloaded": {"uri": ..., "size_bytes": ...}}`."""


class Transition(Struct, frozen=True):
    """One fact of an execution's history; `sequence` has no gaps."""

    sequence: int
    at: str | None
    path: str
    """Of the node; empty = the execution itself."""
    index: int | None
    """The element of a map."""
    phase: str
    attempt: int
    error: Problem | None
    cache: str | None


class Refusal(Struct, frozen=True):
    code: str
    kind: Literal["USER", "SYSTEM"]
    """USER: the request can't be done as it is; SYSTEM: it may be repeated later."""
    cause: str


class Refused(Struct, frozen=True):
    """The body of every answer above 399."""

    error: Refusal
