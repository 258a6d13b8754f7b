"""An execution decided once more: its recorded events go through today's machine, and must give its recorded history.

Every step takes its time from the facts that the recorded one left. Between two events an engine may have been started
anew; what that decided is found the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, structs

from engine.machine import step
from engine.machine.draft import Rules
from engine.machine.execution import ExecutionState, Step
from engine.model.errors import ErrorKind, Failure, shorten
from engine.model.events import AttemptPlanned, Event, ExecutionSubmitted
from engine.model.graph import Program
from engine.model.state import Fact, Node, Snapshot

_NODE_FIELDS = tuple(name for name in Node.__struct_fields__ if not name.endswith("_at"))
_RECORD_FIELDS = ("phase", "workflow", "inputs_uri", "outputs_uri", "error", "abort_cause", "signals", "sequence")


class Difference(Struct, frozen=True):
    """Where the machine decides otherwise than what was recorded."""

    offset: int
    """Of the event that was being applied; 0 = after all of them."""
    what: str
    recorded: str
    decided: str


class Turn(Struct, frozen=True):
    """What one event did, to be shown."""

    offset: int
    event: Event
    facts: Sequence[Fact]


class Rerun:
    """`facts` are the whole recorded history; `plans` what its @dynamic tasks have written, by digest."""

    def __init__(
        self,
        program: Program,
        plans: Mapping[str, Program],
        source: ExecutionState | None,
        facts: Sequence[Fact],
        rules: Rules,
        tell: Callable[[Turn], None] = lambda turn: None,
    ) -> None:
        self._program, self._plans, self._source = program, plans, source
        self._facts, self._rules, self._tell = facts, rules, tell
        self._done = 0
        """Facts that were decided again."""
        self.state: ExecutionState | None = None
        self.difference: Difference | None = None

    def take(self, events: Iterable[tuple[int, Event]]) -> None:
        """The next events with their offsets, in order; after a difference nothing more is done."""
        for offset, event in events:
            if self.difference is None:
                self._take(offset, event)

    def _take(self, offset: int, event: Event) -> None:
        if self.state is None:
            if not isinstance(event, ExecutionSubmitted):
                return
            self.state = step.submitted(event, self._program, self._source)
        elif isinstance(event, ExecutionSubmitted) and not step.same_submission(self.state.record, event):
            return
        done = self._applied(self.state, event)
        if not self._fits(done) and self._restarted(self.state):
            done = self._applied(self.state, event)
        if not self._fits(done):
            self._differ(offset, done.facts)
            return
        self._absorb(self.state, done)
        self._tell(Turn(offset, event, done.facts))

    def finish(self, stored: Snapshot) -> Difference | None:
        """After the last event: the first difference of all, also where history or stored states end otherwise."""
        if self.difference is None and self.state is not None:
            while self._done < len(self._facts) and self._restarted(self.state):
                pass
        if self.difference is None and self._done < len(self._facts):
            self._differ(0, ())
        if self.difference is None:
            self.difference = self._compare(stored)
        return self.difference

    def _applied(self, state: ExecutionState, event: Event) -> Step:
        event = self._with_plan(state, event)
        try:
            return step.apply(state, event, self._now, self._rules)
        except Exception as error:  # noqa: BLE001 - the propeller's own verdict: the execution is given up
            failure = Failure("IllegalStateError", ErrorKind.SYSTEM, shorten(f"{type(error).__name__}: {error}"))
            return step.give_up(state, failure, self._now, self._rules)

    def _with_plan(self, state: ExecutionState, event: Event) -> Event:
        if not isinstance(event, AttemptPlanned):
            return event
        if event.plan in self._plans:
            state.plans[event.plan] = self._plans[event.plan]
            return event
        return step.unplanned(event)

    @property
    def _now(self) -> float:
        """When the next recorded fact happened; nothing is decided between two facts that depends on the time."""
        return self._facts[min(self._done, len(self._facts) - 1)].at if self._facts else 0.0

    def _fits(self, done: Step) -> bool:
        recorded = self._facts[self._done : self._done + len(done.facts)]
        return len(recorded) == len(done.facts) and all(map(_same, done.facts, recorded))

    def _restarted(self, state: ExecutionState) -> bool:
        """Whether an engine that starts now decides what was recorded next."""
        if state.record.terminal:
            return False
        done = step.resume(state, self._now, self._rules)
        if not done.facts or not self._fits(done):
            return False
        self._absorb(state, done)
        return True

    def _absorb(self, state: ExecutionState, done: Step) -> None:
        state.absorb(done)
        self._done += len(done.facts)

    def _differ(self, offset: int, decided: Sequence[Fact]) -> None:
        number = 0
        recorded = self._facts[self._done :]
        while number < min(len(decided), len(recorded)) and _same(decided[number], recorded[number]):
            number += 1
        self.difference = Difference(
            offset,
            f"fact {self._done + number + 1}",
            describe(recorded[number]) if number < len(recorded) else "no such fact",
            describe(decided[number]) if number < len(decided) else "no such fact",
        )

    def _compare(self, stored: Snapshot) -> Difference | None:
        if self.state is None:
            return Difference(0, "the execution", stored.execution.phase.value, "no submission of it is in the log")
        for name in _RECORD_FIELDS:
            old, new = getattr(stored.execution, name), getattr(self.state.record, name)
            if old != new:
                return Difference(0, f"{name} of the execution", repr(old), repr(new))
        known = {node.path: node for node in stored.nodes}
        for path in sorted(known.keys() | self.state.nodes.keys()):
            node, decided = known.get(path), self.state.nodes.get(path)
            if node is None or decided is None:
                there = [found.phase.name if found else "no state" for found in (node, decided)]
                return Difference(0, f"node {path}", *there)
            for name in _NODE_FIELDS:
                old, new = getattr(node, name), getattr(decided, name)
                if old != new:
                    return Difference(0, f"{name} of node {path}", repr(old), repr(new))
        return None


def _same(decided: Fact, recorded: Fact) -> bool:
    """Where its outputs are, a fact of an older version does not say; the stored execution does."""
    return decided == recorded or structs.replace(decided, outputs_uri=recorded.outputs_uri) == recorded


def describe(fact: Fact) -> str:
    """`node n1[3], attempt 0: FAILED, USER:RuntimeError: 'boom'`."""
    element = "" if fact.index is None else f"[{fact.index}]"
    place = f"node {fact.path}{element}, attempt {fact.attempt}" if fact.path else "execution"
    error = f", {fact.error.code}: {fact.error.message!r:.200}" if fact.error else ""
    return f"{place}: {fact.phase}{error}"
