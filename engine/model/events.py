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
    execution: ExecutionId
    entity: EntityId
    """A launch plan or a workflow of the package."""
    package: str
    inputs_uri: str = ""
    """A `LiteralMap` with every input, defaults and fixed inputs applied; empty = no inputs."""
    parent: AttemptKey | None = None
    submitted_at: float = 0.0


class AbortRequested(Struct, frozen=True, omit_defaults=True, tag="execution.abort_requested", tag_field="type"):
    execution: ExecutionId
    cause: str
    parent: AttemptKey | None = None
    """The launch plan node that wants an answer even if the execution is not there."""


class ChildEnded(Struct, frozen=True, omit_defaults=True, tag="execution.child_ended", tag_field="type"):
    """Sent to the parent's execution when a child execution is terminal."""

    key: AttemptKey
    child: ExecutionId
    phase: ExecutionPhase
    outputs_uri: str = ""
    error: Failure | None = None

    @property
    def execution(self) -> ExecutionId:
        return self.key.execution


class NodePrepared(Struct, frozen=True, omit_defaults=True, tag="node.prepared", tag_field="type"):
    """The inputs of a composite node are resolved and stored."""

    key: AttemptKey
    inputs_uri: str = ""
    size: int | None = None
    """Elements of a map node."""

    @property
    def execution(self) -> ExecutionId:
        return self.key.execution


class AttemptStarted(Struct, frozen=True, omit_defaults=True, tag="attempt.started", tag_field="type"):
    key: AttemptKey
    inputs_uri: str = ""

    @property
    def execution(self) -> ExecutionId:
        return self.key.execution


class AttemptSucceeded(Struct, frozen=True, omit_defaults=True, tag="attempt.succeeded", tag_field="type"):
    key: AttemptKey
    outputs_uri: str = ""
    output_bytes: dict[str, int] = {}
    """For a map element: per output variable, the bytes its framed literal takes in the gathered list."""

    @property
    def execution(self) -> ExecutionId:
        return self.key.execution


class AttemptFailed(Struct, frozen=True, omit_defaults=True, tag="attempt.failed", tag_field="type"):
    key: AttemptKey
    failure: Failure
    recoverable: bool = False
    """May be tried again, within the budget of `failure.kind`."""

    @property
    def execution(self) -> ExecutionId:
        return self.key.execution


class AttemptStopped(Struct, frozen=True, omit_defaults=True, tag="attempt.stopped", tag_field="type"):
    """An attempt that was told to stop is gone: nothing of it runs any more."""

    key: AttemptKey

    @property
    def execution(self) -> ExecutionId:
        return self.key.execution


NodeEvent = NodePrepared | AttemptStarted | AttemptSucceeded | AttemptFailed | AttemptStopped | ChildEnded
Event = ExecutionSubmitted | AbortRequested | NodeEvent
