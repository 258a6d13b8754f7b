"""A draft of what one event does: changes laid over an execution that stays untouched until they are absorbed.

Every change of a node goes through `accept`, the one place that checks the transition table and writes history.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from msgspec import structs

from engine.machine import cleanups
from engine.machine.execution import ExecutionState, Frame, Step
from engine.machine.handler import Context, Move, NodeHandler
from engine.machine.places import takes_place
from engine.machine.recovery import earlier
from engine.model.cache import CacheStatus
from engine.model.effects import Effect
from engine.model.errors import Defect, Failure
from engine.model.events import Event
from engine.model.graph import START_NODE, NodeKind
from engine.model.ids import join, owner, split
from engine.model.limits import ArrayLimits, ExecutionLimits, RetryLimits
from engine.model.phases import REOPENINGS, ExecutionPhase, NodePhase, allowed
from engine.model.state import Elements, Fact, Node


@dataclass(frozen=True, slots=True)
class Rules:
    """What the machine decides with: the handlers and the operator's limits."""

    handlers: Mapping[NodeKind, NodeHandler]
    retries: RetryLimits
    arrays: ArrayLimits
    executions: ExecutionLimits = field(default_factory=ExecutionLimits)


class Draft:
    def __init__(self, state: ExecutionState, rules: Rules, now: float) -> None:
        self.state, self.rules, self.now = state, rules, now
        self.record = state.record
        """Its sequence number is brought up to date by `step` only."""
        self.nodes: dict[str, Node] = {}
        self.facts: list[Fact] = []
        self.effects: list[Effect] = []
        self.events: list[Event] = []
        self.refusal = ""
        self.busy = state.busy
        """Nodes that take a place (engine.machine.places)."""
        self.held: list[str] = []
        """Nodes that are ready and found no place, beside those of the state."""
        self.freed = 0
        """So many of the state's held nodes, from the first, have had their turn."""
        self.crowds: dict[str, int] = {}
        """By how many the live nodes of a frame have become more."""
        self.ended: deque[str] = deque()
        """Nodes that became terminal and whose consequences are not drawn yet."""

    def step(self, *, stale: bool = False) -> Step:
        if self.facts:
            self.record = structs.replace(self.record, sequence=self.facts[-1].sequence)
        decided = (self.record, self.nodes, self.facts, self.effects, self.events)
        return Step(*decided, stale, self.refusal, self.held, self.freed, self.busy, self.crowds)

    # Reading: the draft first, then the execution.

    def node(self, path: str) -> Node:
        found = self.nodes.get(path) or self.state.nodes.get(path)
        return found or Node(path, self.state.spec(path, self.nodes).kind)

    def frame(self, prefix: str) -> Frame:
        return self.state.frame(prefix, self.nodes)

    def find(self, path: str) -> Node | None:
        """None: nothing has happened to it yet."""
        return self.nodes.get(path) or self.state.nodes.get(path)

    def phase(self, path: str) -> NodePhase:
        found = self.nodes.get(path) or self.state.nodes.get(path)
        return found.phase if found else NodePhase.NOT_YET_STARTED

    def deserted(self, prefix: str) -> bool:
        """Whether nothing in a frame is live, nor in the frames inside it: what contains a live node is live itself."""
        return not self.state.crowds.get(prefix, 0) + self.crowds.get(prefix, 0)

    def live(self, prefix: str) -> Iterator[str]:
        """Paths of the live nodes in a frame and in the frames inside it."""
        inside = f"{prefix}/" if prefix else ""
        for path in self.state.live:
            if path.startswith(inside) and (path not in self.nodes or self.nodes[path].live):
                yield path
        for path, node in self.nodes.items():
            if node.live and path.startswith(inside) and path not in self.state.live:
                yield path

    def context(self, path: str) -> Context:
        prefix, node_id = split(path)
        frame = self.frame(prefix)
        spec = frame.spec(node_id)
        if spec is frame.graph.failure:
            spec = cleanups.told(spec, frame, self.error_of(frame))
        sources = partial(self._outputs_of, frame.scope)
        state, limits = self.state, (self.rules.retries, self.rules.arrays)
        known = earlier(state, path) if state.source else None
        return Context(
            self.record, frame.program, state.program, spec, sources, self.now, *limits, frame.interruptible, known
        )

    def error_of(self, frame: Frame) -> Failure | None:
        """The first failure of a frame, so far."""
        return self.record.error if frame.owner is None else self.node(frame.owner).error

    def handler(self, kind: NodeKind) -> NodeHandler:
        return self.rules.handlers[kind]

    def _outputs_of(self, scope: str, source: str) -> str:
        """Of a node, or the inputs of the workflow that the frame `scope` executes."""
        if source != START_NODE:
            return self.node(join(scope, source)).outputs_uri
        containing = owner(scope)
        return self.record.inputs_uri if containing is None else self.node(containing).inputs_uri

    @property
    def holds(self) -> bool:
        """Whether nodes wait for a place."""
        return self.freed < len(self.state.held) or bool(self.held)

    def next_held(self) -> str:
        """The first of the nodes that wait for a place, which waits no more."""
        if self.freed < len(self.state.held):
            self.freed += 1
            return self.state.held[self.freed - 1]
        return self.held.pop(0)

    # Writing: each way in leaves a fact.

    def accept(self, path: str, move: Move) -> tuple[Node, Node]:
        """Lay a handler's move over the execution; the node before and after.

        Raises Defect for a transition that the table does not have.
        """
        before = old = self.node(path)
        for step in move.elements:
            self._fact(step.phase.name, path, step.attempt, step.error, step.index, step.cache)
        for new in move.states:
            if new.phase is not old.phase:
                if not allowed(old.phase, new.phase):
                    raise Defect(f"node {path} of {self.record.id} can't go from {old.phase.name} to {new.phase.name}")
                if new.attempt < old.attempt:
                    raise Defect(f"node {path} of {self.record.id}: attempt {new.attempt} after {old.attempt}")
                self._fact(new.phase.name, path, new.attempt, new.error, cache=new.cache)
            old = new
        self.nodes[path] = old
        self.effects.extend(move.effects)
        if old.phase is not before.phase:
            self.busy += takes_place(old) - takes_place(before)
            if old.live is not before.live:
                prefix, _ = split(path)
                self.crowds[prefix] = self.crowds.get(prefix, 0) + (1 if old.live else -1)
            if old.terminal and not before.terminal:
                self.ended.append(path)
        return before, old

    def reopen(self, path: str, attempt: int, kept: Elements | None = None) -> None:
        """Take a node back to its beginning. Raises Defect where the table of re-openings does not lead there.

        `kept`: the elements of a map whose successes the attempt begins with.
        """
        old = self.node(path)
        if old.phase not in REOPENINGS:
            raise Defect(f"node {path} of {self.record.id} can't go back from {old.phase.name}")
        self.nodes[path] = Node(path, old.kind, attempt=attempt, kept=kept)
        self._fact(NodePhase.NOT_YET_STARTED.name, path, attempt, None)

    def enter(self, phase: ExecutionPhase, **changes: object) -> None:
        """Move the execution itself to a phase."""
        self.record = structs.replace(self.record, phase=phase, **changes)
        self._fact(phase.value, "", 0, self.record.error, outputs_uri=self.record.outputs_uri)

    def _fact(
        self,
        phase: str,
        path: str,
        attempt: int,
        error: Failure | None,
        index: int | None = None,
        cache: CacheStatus | None = None,
        outputs_uri: str = "",
    ) -> None:
        sequence = self.state.record.sequence + len(self.facts) + 1
        fact = Fact(self.state.record.id, sequence, self.now, phase, path, index, attempt, error, cache, outputs_uri)
        self.facts.append(fact)
