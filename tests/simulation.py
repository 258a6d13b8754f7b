"""The pure machine in a world of its own: no log, no store; effects are answered by a script, in any order.

Executions (children too) live in one `Simulation`. `deliver` applies one waiting event; a test chooses which, and may
deliver it twice. Every started attempt is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from engine.machine import arrays, step
from engine.machine.draft import Rules
from engine.machine.execution import ExecutionState, Step
from engine.model.effects import (
    AbortChild,
    Effect,
    EvaluateBranch,
    GatherOutputs,
    MeasureElement,
    PrepareArray,
    ResolveInputs,
    RunElement,
    RunTask,
    StartChild,
    StartElement,
    StopAttempt,
    TakeSignal,
    WriteOutputs,
)
from engine.model.errors import ErrorKind, Failure
from engine.model.events import (
    AbortRequested,
    AttemptFailed,
    AttemptPlanned,
    AttemptStarted,
    AttemptStopped,
    AttemptSucceeded,
    Event,
    ExecutionSubmitted,
    NodePrepared,
    SignalRefused,
    TimerFired,
)
from engine.model.graph import BranchSpec, NodeKind, Program
from engine.model.ids import AttemptKey, EntityId, ExecutionId
from engine.model.limits import ArrayLimits, RetryLimits
from engine.model.state import Fact, Node
from handlers.registry import default_handlers

RULES = Rules(default_handlers(), RetryLimits(), ArrayLimits())
EXECUTION = ExecutionId("p", "d", "e1")

Script = Callable[[AttemptKey], Failure | str | None]
"""What becomes of an attempt: None = success, a Failure, "hang" (it never ends), "plan:DIGEST" (a @dynamic task)."""


def user_error(message: str = "boom") -> Failure:
    return Failure("USER:RuntimeError", ErrorKind.USER, message)


def recoverable(message: str = "again") -> Failure:
    return Failure("USER:Recoverable", ErrorKind.USER, message)


def lost(message: str = "lost") -> Failure:
    return Failure("ResourceDeletedExternally", ErrorKind.SYSTEM, message)


class Simulation:
    def __init__(
        self,
        program: Program,
        script: Script = lambda key: None,
        *,
        entity: EntityId | None = None,
        size: int = 0,
        choices: Mapping[str, str] | None = None,
        rules: Rules = RULES,
    ) -> None:
        """size: of every map. choices: the arm that a branch node (by its path) takes, if not the first."""
        self.program, self.script, self.size, self.rules = program, script, size, rules
        self.choices = choices or {}
        self.states: dict[ExecutionId, ExecutionState] = {}
        self.plans: dict[str, Program] = {}
        """What @dynamic tasks write, by digest: the script answers "plan:DIGEST"."""
        self.waiting: list[Event] = []
        self.started: Counter[AttemptKey] = Counter()
        self.stopped: Counter[AttemptKey] = Counter()
        self.alive: set[AttemptKey] = set()
        self.most_alive = 0
        self.facts: list[Fact] = []
        self.applied: list[Event] = []
        self.effects: list[Effect] = []
        """All that were asked for."""
        self.stale = 0
        self.now = 1000.0
        self.apply(ExecutionSubmitted(EXECUTION, entity or next(iter(program.workflows)), "digest"))

    @property
    def state(self) -> ExecutionState:
        return self.states[EXECUTION]

    def nodes(self, execution: ExecutionId = EXECUTION) -> dict[str, Node]:
        return self.states[execution].nodes

    def phases(self, execution: ExecutionId = EXECUTION) -> dict[str, str]:
        """Phase names by path, start and end nodes left out."""
        return {
            path: node.phase.name
            for path, node in sorted(self.nodes(execution).items())
            if not path.endswith(("start-node", "end-node"))
        }

    def element_phases(self, path: str) -> list[str]:
        elements = self.nodes()[path].elements
        assert elements is not None
        return [arrays.phase_of(elements, k).name for k in range(elements.size)]

    def apply(self, event: Event) -> Step | None:
        self.now += 1.0
        self.applied.append(event)
        state = self.states.get(event.execution)
        if state is None:
            if isinstance(event, AbortRequested):
                reply = step.never_started(event)
                self.waiting.extend([reply] if reply else [])
                return None
            assert isinstance(event, ExecutionSubmitted)
            source = self.states.get(event.recovers) if event.recovers else None
            state = self.states[event.execution] = step.submitted(event, self.program, source)
        if isinstance(event, AttemptPlanned):
            state.plans[event.plan] = self.plans[event.plan]
        done = step.apply(state, event, self.now, self.rules)
        self._absorb(state, done)
        return done

    def _absorb(self, state: ExecutionState, done: Step) -> None:
        state.absorb(done)
        self.stale += done.stale
        self.facts.extend(done.facts)
        self.waiting.extend(done.events)
        self.effects.extend(done.effects)
        for effect in done.effects:
            self._perform(effect)

    def resume(self) -> None:
        """As after a crash: memory is gone, waiting results too; states are what was committed."""
        self.waiting = [event for event in self.waiting if isinstance(event, ExecutionSubmitted)]
        self.alive.clear()
        for execution, state in list(self.states.items()):
            source = self.states[state.record.recovers] if state.source and state.record.recovers else None
            fresh = ExecutionState.of(state.record, self.program, state.nodes.values(), state.plans, source)
            self.states[execution] = fresh
            if not fresh.record.terminal:
                self._absorb(fresh, step.resume(fresh, self.now, self.rules))

    def _perform(self, effect: Effect) -> None:
        key = effect.key
        match effect:
            case RunElement(succeeded=old) if old is not None:
                self.waiting.append(AttemptSucceeded(key, f"out:{old}", {"o0": 10}, recovered=True))
            case RunTask() | RunElement():
                self.started[key] += not effect.resumed
                self.alive.add(key)
                self.most_alive = max(self.most_alive, len(self.alive))
                self.waiting.append(AttemptStarted(key))
                self.waiting.extend(self._outcome(key))
            case ResolveInputs():
                self.waiting.append(NodePrepared(key, f"in:{key}"))
            case EvaluateBranch(spec=spec):
                assert spec.branch is not None
                self.waiting.append(NodePrepared(key, f"in:{key}", choice=self._choice(key.path, spec.branch)))
            case PrepareArray():
                self.waiting.append(NodePrepared(key, f"in:{key}", self.size))
            case WriteOutputs() | GatherOutputs():
                self.waiting.append(AttemptSucceeded(key, f"out:{key}"))
            case MeasureElement():
                self.waiting.append(AttemptSucceeded(key, effect.outputs_uri, {"o0": 10}))
            case StartChild() | StartElement():
                depth, recovers = effect.origin.depth + 1, effect.recovers
                package = effect.origin.package
                child = ExecutionSubmitted(
                    effect.child, effect.plan.id, package, parent=key, depth=depth, recovers=recovers
                )
                self.waiting.extend([child, AttemptStarted(key)])
            case AbortChild():
                self.waiting.append(AbortRequested(effect.child, effect.cause, key))
            case TakeSignal(gate=gate, value_uri=uri):
                self.waiting.append(_taken(key, gate.signal_id, uri))
            case StopAttempt():
                self.stopped[key] += 1
                self.waiting = [event for event in self.waiting if not _result_of(event, key)]
                self.waiting.append(AttemptStopped(key))

    def _choice(self, path: str, branch: BranchSpec) -> str:
        return self.choices.get(path, branch.arms[0].node)

    def _outcome(self, key: AttemptKey) -> Sequence[Event]:
        match self.script(key):
            case None:
                return [AttemptSucceeded(key, f"out:{key}", {"o0": 10} if key.index is not None else {})]
            case Failure() as failure:
                again = failure.code != "USER:RuntimeError"
                return [AttemptFailed(key, failure, again)]
            case str() as planned if planned.startswith("plan:"):
                return [AttemptPlanned(key, planned.removeprefix("plan:"))]
            case _:
                return []

    def ring(self, execution: ExecutionId = EXECUTION) -> Step | None:
        """Let the time come that some live node wants first."""
        state = self.states[execution]
        due = [node for path in state.live if (node := state.nodes[path]).wake_at]
        node = min(due, key=lambda node: node.wake_at)
        self.now = max(self.now, node.wake_at - 1.0)
        return self.apply(TimerFired(state.record.key(node.path, node.attempt), node.wake_at))

    def deliver(self, number: int = 0, *, keep: bool = False) -> Step | None:
        """Apply the waiting event of this number (modulo how many wait); `keep` leaves it there to come again."""
        number %= len(self.waiting)
        event = self.waiting[number] if keep else self.waiting.pop(number)
        if isinstance(event, AttemptSucceeded | AttemptFailed | AttemptStopped | AttemptPlanned):
            self.alive.discard(event.key)
        return self.apply(event)

    def tick(self) -> bool:
        """Let the time pass until the next timer, of whatever execution, and fire it; False: there is none.

        Those of gates are left to `ring`.
        """
        timers = [
            (node.wake_at, state.record.key(path, node.attempt))
            for state in self.states.values()
            for path in state.live
            if (node := state.nodes[path]).wake_at and node.kind is not NodeKind.GATE
        ]
        if not timers:
            return False
        at, key = min(timers)
        self.now = max(self.now, at)
        self.waiting.append(TimerFired(key, at))
        return True

    def run(self) -> Simulation:
        """Deliver everything, oldest first; time passes when nothing else happens."""
        while self.waiting or self.tick():
            self.deliver()
        return self


def _taken(key: AttemptKey, signal_id: str, uri: str) -> Event:
    """What a gate makes of its signal's value: "bad..." has the wrong type, "no" rejects, all others will do."""
    if uri.startswith("bad"):
        return SignalRefused(key, signal_id, uri, "its value is str, expected int")
    if uri == "no":
        return AttemptFailed(key, Failure("ReceivedRejectSignal", ErrorKind.USER, "rejected"))
    return AttemptSucceeded(key, uri)


_RESULTS = AttemptStarted | AttemptPlanned | AttemptSucceeded | AttemptFailed | NodePrepared | SignalRefused


def _result_of(event: Event, key: AttemptKey) -> bool:
    return isinstance(event, _RESULTS) and event.key == key
