"""What happened: the only things that change state. Past tense, each naming its execution.

An event about a node names the attempt it speaks of, so a late or repeated one is recognised and dropped.
"""

from __future__ import annotations

from msgspec import Struct

from engine.model.cache import CacheStatus
from engine.model.errors import Failure
from engine.model.ids import AttemptKey, EntityId, ExecutionId
from engine.model.overrides import NONE, Overrides
from engine.model.phases import ExecutionPhase
from engine.model.requests import Asked

VERSION = 1
"""Version number that every event carries on the wire; older ones are upcast on read."""


class ExecutionSubmitted(Struct, frozen=True, omit_defaults=True, tag="execution.submitted", tag_field="type"):
    """Somebody asks for an execution; the same submission again is the same as once."""

    execution: ExecutionId
    entity: EntityId
    """A launch plan or a workflow of the package."""
    package: str
    inputs_uri: str = ""
    """A `LiteralMap` with every input, defaults and fixed inputs applied; empty = no inputs."""
    parent: AttemptKey | None = None
    submitted_at: float = 0.0
    depth: int = 0
    """Levels of executions above it: a child's is one more than its parent's."""
    root: AttemptKey | None = None
    """What started them all, in the execution at the top; None: nothing is above this one."""
    recovers: ExecutionId | None = None
    """Take over what succeeded in this execution, which is terminal."""
    overwrite_cache: bool = False
    """Run every task whose results are cached, and keep the new results; child executions do the same."""
    overrides: Overrides = NONE
    run: str = ""
    """Chosen by the submitter, different for each run of a name; a repeated submission may carry another one."""
    request: str = ""
    """Digest of the `ExecutionRequested` that it was made of; empty: none."""


class AbortRequested(Struct, frozen=True, omit_defaults=True, tag="execution.abort_requested", tag_field="type"):
    """Somebody, or the parent execution, asks an execution to stop."""

    execution: ExecutionId
    cause: str
    parent: AttemptKey | None = None
    """The launch plan node that wants an answer even if the execution is not there."""


class SignalSet(Struct, frozen=True, omit_defaults=True, tag="signal.set", tag_field="type"):
    """Somebody answers the gates of one id, those that wait and those that will."""

    execution: ExecutionId
    signal_id: str
    value_uri: str
    """A serialized `Literal`; a boolean for an approval."""


class NodeRetryRequested(Struct, frozen=True, omit_defaults=True, tag="node.retry_requested", tag_field="type"):
    """Somebody asks for one more attempt of a failed node of an execution that is not terminal."""

    execution: ExecutionId
    path: str
    all_elements: bool = False
    """Of a map: those that have succeeded run again, too; else their outputs are kept."""


class AboutAttempt(Struct, frozen=True, omit_defaults=True):
    """What the events about a node have in common: they name the attempt they speak of."""

    key: AttemptKey

    @property
    def execution(self) -> ExecutionId:
        return self.key.execution


class ChildEnded(AboutAttempt, frozen=True, omit_defaults=True, tag="execution.child_ended", tag_field="type"):
    """Sent to the parent's execution when a child execution is terminal."""

    child: ExecutionId
    phase: ExecutionPhase
    outputs_uri: str = ""
    error: Failure | None = None


class NodePrepared(AboutAttempt, frozen=True, omit_defaults=True, tag="node.prepared", tag_field="type"):
    """The inputs of a composite node are resolved and stored."""

    inputs_uri: str = ""
    size: int | None = None
    """Elements of a map node."""
    choice: str = ""
    """The arm that a branch node takes: the id of its body."""


class AttemptStarted(AboutAttempt, frozen=True, omit_defaults=True, tag="attempt.started", tag_field="type"):
    """The task really runs; for a launch plan node, its child execution is submitted."""

    inputs_uri: str = ""
    cache: CacheStatus | None = None
    at: float = 0.0
    """When it began to run (seconds since the epoch): this news may have waited for company. 0 = not known."""


class AttemptSucceeded(AboutAttempt, frozen=True, omit_defaults=True, tag="attempt.succeeded", tag_field="type"):
    """What the attempt was to write is written."""

    outputs_uri: str = ""
    output_bytes: dict[str, int] = {}
    """For a map element: per output variable, the bytes its framed literal takes in the gathered list."""
    cache: CacheStatus | None = None
    """HIT: nothing has run."""
    inputs_uri: str = ""
    """Where the task found its inputs; empty where nothing has run."""
    started_at: float = 0.0
    """When it began to run, as in AttemptStarted, which it may stand for."""
    recovered: bool = False
    """For a map element: its outputs are those it had in the recovered execution."""


class AttemptFailed(AboutAttempt, frozen=True, omit_defaults=True, tag="attempt.failed", tag_field="type"):
    """The attempt, or the preparing or gathering of a node, came to this failure."""

    failure: Failure
    recoverable: bool = False
    """May be tried again, within the budget of `failure.kind`."""
    cache: CacheStatus | None = None


class AttemptStopped(AboutAttempt, frozen=True, omit_defaults=True, tag="attempt.stopped", tag_field="type"):
    """An attempt that was told to stop is gone: nothing of it runs any more."""


class AttemptPlanned(AboutAttempt, frozen=True, omit_defaults=True, tag="attempt.planned", tag_field="type"):
    """A @dynamic task has ended and left a plan, which is compiled and stored."""

    plan: str
    """Digest of the plan's `Program`."""


class SignalRefused(AboutAttempt, frozen=True, omit_defaults=True, tag="signal.refused", tag_field="type"):
    """A gate could not take the value of its signal (another type, gone); it waits for another one."""

    signal_id: str
    value_uri: str
    reason: str


class TimerFired(AboutAttempt, frozen=True, omit_defaults=True, tag="timer.fired", tag_field="type"):
    """The time that the node's `wake_at` named has come. A crash or a change of `wake_at` makes others stale."""

    at: float


NodeEvent = (
    NodePrepared
    | AttemptStarted
    | AttemptPlanned
    | AttemptSucceeded
    | AttemptFailed
    | AttemptStopped
    | ChildEnded
    | SignalRefused
    | TimerFired
)
Event = ExecutionSubmitted | AbortRequested | SignalSet | NodeRetryRequested | NodeEvent
"""What the machine decides on."""
Incoming = Event | Asked
"""What a log may hold."""
