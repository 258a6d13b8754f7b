"""The stored state: one `Execution` and its `Node`s. A node that is not stored is NOT_YET_STARTED.

State is the to-do list: what a live node still needs follows from its phase alone (the handlers' `pending`).
"""

from __future__ import annotations

from msgspec import Struct

from engine.model.cache import CacheStatus
from engine.model.errors import Failure
from engine.model.graph import NodeKind
from engine.model.ids import AttemptKey, EntityId, ExecutionId
from engine.model.overrides import NONE, Overrides
from engine.model.phases import EXECUTION_TERMINAL, LIVE, TERMINAL, ExecutionPhase, NodePhase

CHUNK = 1024
"""Elements per chunk of an `Elements` table."""


_FRAMED = frozenset({NodeKind.SUBWORKFLOW, NodeKind.BRANCH})
_OPEN = frozenset({NodePhase.RUNNING, NodePhase.DYNAMIC_RUNNING})


class Execution(Struct, frozen=True, omit_defaults=True):
    id: ExecutionId
    entity: EntityId
    """The launch plan or workflow that was asked for."""
    workflow: EntityId
    package: str
    """Digest of the `Program`."""
    phase: ExecutionPhase = ExecutionPhase.READY
    inputs_uri: str = ""
    """A `LiteralMap` with every input of the workflow, defaults and fixed inputs applied; empty = no inputs."""
    outputs_uri: str = ""
    parent: AttemptKey | None = None
    """The launch plan node that waits for this execution."""
    submitted_at: float = 0.0
    """Seconds since the epoch, as every `_at` here."""
    overwrite_cache: bool = False
    """Results that are cached are not used but replaced."""
    overrides: Overrides = NONE
    """As they were submitted; `engine.machine.overrides.effective` lays them over those of the launch plan."""
    run: str = ""
    """Part of every attempt key, so that what an earlier run of this name left behind is never taken for this one's."""
    started_at: float = 0.0
    ended_at: float = 0.0
    error: Failure | None = None
    abort_cause: str | None = None
    sequence: int = 0
    """Number of its last history fact."""
    signals: dict[str, str] = {}
    """Signals that have come: signal id -> URI of the value (a serialized `Literal`), kept until a gate takes it and
    beyond, since gates of one id share it."""
    depth: int = 0
    """Levels of executions above it, each of which waits for the one below."""
    root: AttemptKey | None = None
    """What started them all, in the execution at the top; None: nothing is above this one."""
    recovers: ExecutionId | None = None
    """The execution whose succeeded nodes this one takes over, by their paths."""
    request: str = ""
    """Digest of the request that it was made of; empty: an engine was handed its submission."""

    @property
    def terminal(self) -> bool:
        return self.phase in EXECUTION_TERMINAL

    def key(self, path: str, attempt: int) -> AttemptKey:
        """The key of an attempt of a node."""
        return AttemptKey(self.id, path, attempt, run=self.run)

    def element_key(self, path: str, node_attempt: int, index: int, attempt: int) -> AttemptKey:
        """The key of an attempt of a map node's element."""
        return AttemptKey(self.id, path, attempt, index, node_attempt, self.run)


class Elements(Struct, frozen=True, omit_defaults=True):
    """The elements of a map node: two bytes each, in chunks of CHUNK elements, and running counts.

    Byte 0 holds the phase (low 4 bits) and the system failures (high 4 bits), byte 1 the attempt.
    """

    size: int
    chunks: tuple[bytes, ...]
    succeeded: int = 0
    failed: int = 0
    live: int = 0
    """Queued or running (or aborting) now."""
    next: int = 0
    """The first element never started."""
    output_bytes: dict[str, int] = {}
    """Per output variable: bytes of the framed element literals gathered so far (see data.gather)."""
    first_error: Failure | None = None
    waiting: dict[int, float] = {}
    """When the next attempt of an element is due that is RETRYABLE_FAILURE; its node's `wake_at` is the earliest."""
    cached: int = 0
    """Elements whose result came from the cache."""
    recovered: int = 0
    """Elements whose result came from the recovered execution, or from the attempt before that a person tried again."""


class Node(Struct, frozen=True, omit_defaults=True):
    path: str
    kind: NodeKind
    phase: NodePhase = NodePhase.NOT_YET_STARTED
    attempt: int = 0
    """Counts from 0 and never goes back."""
    system_failures: int = 0
    queued_at: float = 0.0
    started_at: float = 0.0
    attempt_started_at: float = 0.0
    ended_at: float = 0.0
    inputs_uri: str = ""
    outputs_uri: str = ""
    error: Failure | None = None
    cache: CacheStatus | None = None
    """Of the last attempt; what the elements of a map did stands in their facts."""
    elements: Elements | None = None
    kept: Elements | None = None
    """Of a map that a person tries again: its elements in the attempt before this one. Those that succeeded there are
    taken over."""
    wake_at: float = 0.0
    """A live node wants a TimerFired at this time; 0 = none."""
    choice: str = ""
    """The arm that a branch node took: the id of its body."""
    plan: str = ""
    """Digest of the `Program` that this attempt of a @dynamic task wrote (DYNAMIC_RUNNING and after)."""

    @property
    def terminal(self) -> bool:
        return self.phase in TERMINAL

    @property
    def live(self) -> bool:
        return self.phase in LIVE

    @property
    def framed(self) -> bool:
        """This attempt has opened a frame (`inner_frame`): a graph of its own, executed, being stopped or over."""
        return bool(self.plan) or (self.kind in _FRAMED and self.attempt_started_at > 0)

    @property
    def open(self) -> bool:
        """Its frame is being executed: nodes of it may start."""
        return self.framed and self.phase in _OPEN


REJECTED = "REJECTED"
"""Phase of the answer to a request of which nothing comes."""


class Fact(Struct, frozen=True, omit_defaults=True):
    """One accepted transition, as history keeps it. Sequence numbers of an execution have no gaps, starting at 1.

    A fact of the number 0 is no transition but the answer to a request.
    """

    execution: ExecutionId
    sequence: int
    at: float
    """Seconds since the epoch."""
    phase: str
    """A name of NodePhase, or of ExecutionPhase where path is empty. Of an answer: REJECTED, READY where it begins an
    execution, else the phase that the execution is in by then."""
    path: str = ""
    """Of the node; empty: the execution itself."""
    index: int | None = None
    """The element of a map."""
    attempt: int = 0
    """Counts from 0."""
    error: Failure | None = None
    cache: CacheStatus | None = None
    outputs_uri: str = ""
    """Of an execution that has SUCCEEDED with outputs: where their `LiteralMap` lies."""
    request: str = ""
    """Of an answer: what the asker has called the request."""


class Snapshot(Struct, frozen=True):
    """One execution with its nodes, as stored."""

    execution: Execution
    nodes: tuple[Node, ...] = ()
