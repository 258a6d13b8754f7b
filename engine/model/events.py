"""What happened: the only things that change state. Past tense, each naming its execution.

An event about a node names the attempt it speaks of, so a late or repeated one is recognised and dropped.
"""

from __future__ import annotations

from msgspec import Struct

from engine.model.errors import Failure
from engine.model.ids import AttemptKey, EntityId, ExecutionId
from engine.model.phases import ExecutionPhase

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
    run: str = ""
    """Chosen by the submitter, different for each run of a name; a repeated submission may carry another one."""


class AbortRequested(Struct, frozen=True, omit_defaults=True, tag="execution.abort_requested", tag_field="type"):
    """Somebody, or the parent execution, asks an execution to stop."""

    execution: ExecutionId
    cause: str
    parent: AttemptKey | None = None
    """The launch plan node that wants an answer even if the execution is not there."""


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


class AttemptStarted(AboutAttempt, frozen=True, omit_defaults=True, tag="attempt.started", tag_field="type"):
    """The task really runs; for a launch plan node, its child execution is submitted."""

    inputs_uri: str = ""


class AttemptSucceeded(AboutAttempt, frozen=True, omit_defaults=True, tag="attempt.succeeded", tag_field="type"):
    """What the attempt was to write is written."""

    outputs_uri: str = ""
    output_bytes: dict[str, int] = {}
    """For a map element: per output variable, the bytes its framed literal takes in the gathered list."""


class AttemptFailed(AboutAttempt, frozen=True, omit_defaults=True, tag="attempt.failed", tag_field="type"):
    """The attempt, or the preparing or gathering of a node, came to this failure."""

    failure: Failure
    recoverable: bool = False
    """May be tried again, within the budget of `failure.kind`."""


class AttemptStopped(AboutAttempt, frozen=True, omit_defaults=True, tag="attempt.stopped", tag_field="type"):
    """An attempt that was told to stop is gone: nothing of it runs any more."""


NodeEvent = NodePrepared | AttemptStarted | AttemptSucceeded | AttemptFailed | AttemptStopped | ChildEnded
Event = ExecutionSubmitted | AbortRequested | NodeEvent
