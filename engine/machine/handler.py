"""The four verbs that every node kind answers to, and what passes between them and the machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from engine.machine.budget import may_interrupt
from engine.machine.overrides import effective, overwrites_cache, plan_architecture
from engine.machine.recovery import Earlier
from engine.model.cache import CacheStatus
from engine.model.effects import Effect, Origin
from engine.model.errors import Failure
from engine.model.events import Event, NodeEvent
from engine.model.graph import NodeKind, NodeSpec, Program
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.limits import ArrayLimits, RetryLimits
from engine.model.phases import NodePhase
from engine.model.state import Execution, Node
from engine.ports.services import Services


class AbortNode(Struct, frozen=True):
    """A consequence inside the turn: stop whatever this node does."""

    cause: str


class FrameSucceeded(Struct, frozen=True):
    """The graph that this node opened has reached its end-node."""

    outputs_uri: str


class FrameFailed(Struct, frozen=True):
    """The graph that this node opened has failed; what is left of it is being stopped."""

    failure: Failure


class FrameClosed(Struct, frozen=True):
    """Nothing of the graph that this node opened is live any more."""


class FrameSkipped(Struct, frozen=True):
    """The arm that this branch has chosen was skipped: what it waits for has failed, or was skipped itself."""


class SignalCame(Struct, frozen=True):
    """The signal that this gate waits for is set."""


Consequence = AbortNode | SignalCame | FrameSucceeded | FrameSkipped | FrameFailed | FrameClosed


class ElementStep(Struct, frozen=True):
    """A transition of one map element, for the history."""

    index: int
    attempt: int
    phase: NodePhase
    error: Failure | None = None
    cache: CacheStatus | None = None


class Move(Struct, frozen=True):
    """What a handler decided: the node's next states, in order (the last one is stored), and the effects it wants."""

    states: tuple[Node, ...]
    effects: tuple[Effect, ...] = ()
    elements: tuple[ElementStep, ...] = ()


class Context(Struct, frozen=True):
    """What a decision may look at beside the node itself."""

    execution: Execution
    program: Program
    """Where the node's target is found: the plan, inside a @dynamic task."""
    registered: Program
    """The execution's own package."""
    spec: NodeSpec
    source: Callable[[str], str]
    """URI of the outputs of a node, by an id of `spec.sources` (START_NODE: the frame's inputs)."""
    now: float
    retries: RetryLimits
    arrays: ArrayLimits
    default_interruptible: bool = False
    """What the workflow says of nodes that say nothing."""
    earlier: Earlier | None = None
    """What became of the node in the execution that this one recovers."""

    def key(self, node: Node) -> AttemptKey:
        return self.execution.key(node.path, node.attempt)

    def element_key(self, node: Node, index: int, attempt: int) -> AttemptKey:
        return self.execution.element_key(node.path, node.attempt, index, attempt)

    def interruptible(self, system_failures: int) -> bool:
        """Whether an attempt after so many SYSTEM failures may run on capacity that can be taken away.

        The node's own word counts before the execution's, and that before the workflow's.
        """
        wanted = self.spec.interruptible
        if wanted is None:
            wanted = effective(self.execution, self.registered).interruptible
        if wanted is None:
            wanted = self.default_interruptible
        return may_interrupt(wanted, system_failures, self.retries)

    @property
    def sources(self) -> Mapping[str, str]:
        """Node id -> URI of its outputs, for the ids in `spec.sources`."""
        return {source: self.source(source) for source in self.spec.sources}

    @property
    def id(self) -> ExecutionId:
        return self.execution.id

    @property
    def origin(self) -> Origin:
        record, program = self.execution, self.program
        target = self.spec.target
        return Origin(
            record.workflow,
            record.entity,
            record.package,
            program.code_root if target is None else program.code_roots.get(target, program.code_root),
            overwrites_cache(record, self.registered),
            effective(record, self.registered),
            record.depth,
            record.root,
            plan_architecture(record, self.registered),
            self.registered.tasks,
        )


class NodeHandler(Protocol):
    kind: NodeKind
    performs: tuple[type[Effect], ...]
    """The effects that only this handler asks for, and performs."""

    def begin(self, node: Node, ctx: Context) -> Move:
        """The node became ready."""
        ...

    def on_event(self, node: Node, event: NodeEvent | Consequence, ctx: Context) -> Move | None:
        """Something happened to the node, which is live. None: a stale event (older attempt, phase already passed)."""
        ...

    def pending(self, node: Node, ctx: Context) -> Sequence[Effect]:
        """The effects that are still due for a live node, after a restart."""
        ...

    async def perform(self, effect: Effect, services: Services) -> Sequence[Event]:
        """Do it: idempotent by the effect's attempt key, cancellable.

        Raises Transient (the loop tries again) and Permanent (the loop records the failure).
        """
        ...
