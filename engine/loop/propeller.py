"""The propeller: read a batch, apply it, commit it, start the effects. Its hops are drawn in ARCHITECTURE.md."""

from __future__ import annotations

import logging
import time
from asyncio import Event as Signal
from collections.abc import Sequence

from anyio import TASK_STATUS_IGNORED
from anyio.abc import TaskStatus

from engine.loop.effects import Effects
from engine.loop.hooks import Hook, nothing
from engine.loop.ledger import Ledger
from engine.loop.supplies import Supplies
from engine.loop.timers import Timers
from engine.loop.watchers import Watchers
from engine.machine import requests, step
from engine.machine.draft import Rules
from engine.machine.execution import ExecutionState
from engine.model.effects import Effect
from engine.model.errors import ErrorKind, Failure, shorten
from engine.model.events import AbortRequested, AttemptPlanned, Event, ExecutionSubmitted
from engine.model.ids import DNS_LABEL, ExecutionId
from engine.model.requests import Asked, ExecutionRequested, SignalGiven
from engine.model.state import Execution, Fact, Snapshot
from engine.ports.eventlog import DeadLetter, EventLog, Record
from engine.wire import codec

log = logging.getLogger(__name__)
_NAMING = ExecutionSubmitted | AbortRequested | ExecutionRequested
"""Events that may speak of an execution which has ended."""


class Propeller:
    def __init__(
        self,
        event_log: EventLog,
        supplies: Supplies,
        effects: Effects,
        rules: Rules,
        timers: Timers,
        watchers: Watchers,
        hook: Hook = nothing,
    ) -> None:
        self.log, self.supplies, self.effects = event_log, supplies, effects
        self.residents, self.requests = supplies.residents, supplies.requests
        self.rules, self.timers, self.watchers, self.hook = rules, timers, watchers, hook
        self.meter = effects.meter
        self._sources: dict[ExecutionId, ExecutionState | None] = {}
        """By the executions of this turn that recover them."""
        self.stale_events = self._turn = 0

    async def run(self, *, task_status: TaskStatus[None] = TASK_STATUS_IGNORED) -> None:
        """Restore, then turn for ever. Ready (`task_status.started`) when all that was left unfinished goes on."""
        try:
            await self.restore()
            while self.log.behind:
                await self.turn(await self.log.read())
            task_status.started()
            while True:
                await self.turn(await self.log.read())
        finally:
            if self.meter:
                self.meter.abandoned(self._turn)

    async def turn(self, records: Sequence[Record]) -> None:
        ledger, meter = Ledger(), self.meter
        turn = self._turn = meter.turning() if meter else 0
        finished = await self._fetch(records)
        for record in records:
            self._apply(record, finished, ledger)
        await self.requests.write(ledger)
        self.hook("before_commit")
        committed = Signal()
        later = ledger.effects if self.log.shared else self.effects.begin(ledger.effects, committed)
        began = time.perf_counter()
        await self.log.commit(records, ledger.changes())
        seconds = time.perf_counter() - began
        self.hook("after_commit")
        log.info(
            "turn",
            extra={"records": len(records), "facts": len(ledger.facts), "effects": len(ledger.effects)},
        )
        committed.set()
        self._finish(ledger, later)
        if meter:
            meter.turned(turn, records, len(ledger.dead_letters), ledger.stale, seconds)

    async def restore(self) -> None:
        """Take up every unfinished execution where the last commit left it.

        One whose package can't be read is left as it is, so that the others go on.
        """
        ledger, began = Ledger(), time.perf_counter()
        async for snapshot in self.log.restore():
            state = await self._taken_up(snapshot)
            if state is None:
                log.error("execution can't be taken up", extra={"execution": str(snapshot.execution.id)})
                continue
            self.residents.add(state)
            resumed = step.resume(state, self.timers.clock.now(), self.rules)
            state.absorb(resumed)
            ledger.enter(resumed)
            self.timers.follow((state.record, state.nodes[path]) for path in state.live)
        if ledger.facts:
            await self.log.commit((), ledger.changes())
        self._finish(ledger, ledger.effects)
        if self.meter:
            self.meter.restored(len(self.residents), time.perf_counter() - began)

    async def _taken_up(self, snapshot: Snapshot) -> ExecutionState | None:
        """An unfinished execution as it was; None where its package, or a plan that it executes, can't be read."""
        program = await self.supplies.program(snapshot.execution.package)
        found = await self.supplies.plans(node for node in snapshot.nodes if node.live)
        plans = {digest: plan for digest, plan in found.items() if plan is not None}
        if program is None or len(plans) < len(found):
            return None
        recovers = snapshot.execution.recovers
        source = await self.supplies.source(recovers) if recovers else None
        return ExecutionState.of(snapshot.execution, program, snapshot.nodes, plans, source)

    def _finish(self, ledger: Ledger, effects: Sequence[Effect]) -> None:
        """After the commit: what was decided becomes visible, and those of its effects start that have not begun."""
        self.stale_events += ledger.stale
        self.hook("before_launch")
        self.effects.launch(effects)
        self.timers.follow(ledger.moved())
        self.hook("after_launch")
        # Before the finished ones are dropped: a watcher may look at the nodes that the facts speak of.
        self.watchers.tell(list(ledger.executions.values()), ledger.facts)
        for record in ledger.executions.values():
            if record.terminal:
                self.residents.drop(record.id)

    async def _fetch(self, records: Sequence[Record]) -> dict[ExecutionId, Execution]:
        """What this batch needs and memory lacks: the programs of new submissions, plans, finished executions."""
        unknown: list[ExecutionId] = []
        for record in records:
            event = record.event
            if isinstance(event, _NAMING) and not self.residents.knows(event.execution):
                unknown.append(event.execution)
        found = await self.log.find(unknown) if unknown else {}
        self._sources.clear()
        needed: list[str] = []
        for record in records:
            event = record.event
            if isinstance(event, ExecutionSubmitted) and event.execution not in found:
                needed.append(event.package)
                if event.recovers and self.residents.get(event.execution) is None:
                    self._sources[event.execution] = await self.supplies.source(event.recovers)
            elif isinstance(event, AttemptPlanned):
                needed.append(event.plan)
        await self.supplies.programs(needed)
        await self.requests.fetch(records, lambda name: name in found or self.residents.knows(name))
        await self.supplies.programs(self.requests.packages())
        return found

    def _apply(self, record: Record, finished: dict[ExecutionId, Execution], ledger: Ledger) -> None:
        """One record: to the execution it names, or to the dead letters with the reason."""
        event = record.event
        if event is None:
            self._put_away(record, ledger)
            return
        state = self.residents.get(event.execution)
        if isinstance(event, Asked):
            known = state.record if state else finished.get(event.execution)
            self._answer(record, event, state, known, ledger)
            return
        if state is None:
            self._apply_to_absent(record, event, finished.get(event.execution), ledger)
            return
        if isinstance(event, ExecutionSubmitted) and not step.same_submission(state.record, event):
            self._refuse(record, event, requests.taken(event.execution, state.record), ledger)
            return
        if isinstance(event, AttemptPlanned):
            event = self._with_plan(event, state)
        self._step(record, event, state, ledger)

    def _put_away(self, record: Record, ledger: Ledger) -> None:
        """What can't be read, to the dead letters; whoever is named in it may wait for an answer."""
        execution, request = codec.addressed(record.raw, record.headers) or (None, "")
        ledger.dead_letters.append(_letter(record, record.problem, execution))
        if execution is not None:
            ledger.answers.append(
                requests.refusal(execution, request, record.problem, self.timers.clock.now(), "Unreadable")
            )

    def _with_plan(self, event: AttemptPlanned, state: ExecutionState) -> Event:
        """Lay the plan ready for the step; one that can't be read any more is the end of the attempt that wrote it."""
        if self.residents.lay_plan(state, event.plan):
            return event
        return step.unplanned(event)

    def _step(self, record: Record, event: Event, state: ExecutionState, ledger: Ledger) -> None:
        try:
            done = step.apply(state, event, self.timers.clock.now(), self.rules)
        except Exception as error:  # a verdict follows: this execution ends, the others go on
            log.exception("event could not be applied", extra={"execution": str(event.execution)})
            reason = f"{type(error).__name__}: {error}"
            ledger.dead_letters.append(_letter(record, reason, event.execution))
            failure = Failure("IllegalStateError", ErrorKind.SYSTEM, shorten(reason))
            done = step.give_up(state, failure, self.timers.clock.now(), self.rules)
        if done.refusal:
            ledger.dead_letters.append(_letter(record, done.refusal, event.execution))
        state.absorb(done)
        ledger.enter(done)

    def _apply_to_absent(self, record: Record, event: Event, known: Execution | None, ledger: Ledger) -> None:
        """An event for an execution that is not in memory: new, finished, or never heard of."""
        if isinstance(event, ExecutionSubmitted) and known is None:
            self._start(record, event, ledger)
            return
        if isinstance(event, ExecutionSubmitted) and known and not step.same_submission(known, event):
            self._refuse(record, event, requests.taken(event.execution, known), ledger)
            return
        reply = step.answer(known) if known else None
        if isinstance(event, AbortRequested) and known is None:
            reply = step.never_started(event)
            if event.parent is None:
                reason = f"there is no execution {event.execution}; nothing was changed"
                ledger.answers.append(requests.refusal(event.execution, "", reason, self.timers.clock.now()))
        if reply is not None:
            ledger.events.append(reply)
        else:
            ledger.stale += 1

    def _start(self, record: Record, event: ExecutionSubmitted, ledger: Ledger) -> None:
        program = self.residents.known_program(event.package)
        source = self._sources.get(event.execution)
        problem = "its package can't be read" if program is None else step.unusable(event.entity, program, self.rules)
        if event.recovers and event.parent is None and source is None:
            problem = problem or f"execution {event.recovers}, which it recovers, is not there or has not ended"
        if not DNS_LABEL.match(event.execution.name):
            problem = problem or f"the execution's name {event.execution.name!r:.100} is no DNS label"
        if program is None or problem:
            reason = f"{event.entity} of package {event.package}: {problem}"
            self._refuse(record, event, reason, ledger)
            reply = step.refused(event, reason)
            ledger.events.extend([reply] if reply else [])
            return
        state = step.submitted(event, program, source)
        self.residents.add(state)
        self._step(record, event, state, ledger)

    def _answer(
        self, record: Record, asked: Asked, state: ExecutionState | None, known: Execution | None, ledger: Ledger
    ) -> None:
        """A request: it becomes what the machine knows, or is answered."""
        if isinstance(asked, SignalGiven):
            decided: Event | Fact = self.requests.signal(record, asked, state, ledger)
        else:
            decided = self.requests.submission(record, asked, known, ledger)
        if isinstance(decided, Fact):
            log.info("request answered", extra={"execution": str(asked.execution), "phase": decided.phase})
            ledger.answers.append(decided)
            return
        if isinstance(decided, ExecutionSubmitted):
            self._start(record, decided, ledger)
            begun = self.residents.get(asked.execution) is not None
            answer = requests.accepted(asked, self.timers.clock.now()) if begun else None
        else:
            assert state is not None, "no signal is decided without it"
            self._step(record, decided, state, ledger)
            answer = requests.told(asked, state.record, self.timers.clock.now())
        if asked.request and answer is not None:
            ledger.answers.append(answer)

    def _refuse(self, record: Record, event: ExecutionSubmitted, reason: str, ledger: Ledger) -> None:
        """A submission that comes to nothing: one that an engine was handed was checked before, so it is odd."""
        asked = record.event if isinstance(record.event, ExecutionRequested) else event
        if asked is event:
            ledger.dead_letters.append(_letter(record, reason, event.execution))
        if event.parent is None:
            ledger.answers.append(requests.rejected(asked, reason, self.timers.clock.now()))


def _letter(record: Record, reason: str, execution: ExecutionId | None = None) -> DeadLetter:
    return DeadLetter(record.offset, record.raw, reason, execution, record.headers)
