"""The composition root: builds an engine from any parts, one adapter a port, and runs it (homes.py has the parts)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, fields

import anyio
import anyio.to_thread

from engine.adapters.storecache import StoreCache
from engine.loop.backoff import Backoff
from engine.loop.bell import Bell
from engine.loop.crew import Crew
from engine.loop.effects import Effects, decided
from engine.loop.hooks import Hook, nothing
from engine.loop.meter import Meter
from engine.loop.outbox import Outbox
from engine.loop.propeller import Propeller
from engine.loop.reception import Reception
from engine.loop.refusals import Refusals
from engine.loop.requests import Requests
from engine.loop.residents import Residents
from engine.loop.submissions import Names
from engine.loop.supplies import Supplies
from engine.loop.timers import Timers
from engine.loop.watchers import Watchers
from engine.machine.draft import Rules
from engine.machine.waiting import queued_tasks
from engine.model import layout
from engine.model.errors import BadInput
from engine.model.events import AbortRequested, Event, ExecutionSubmitted
from engine.model.graph import Program
from engine.model.ids import AttemptKey, EntityId, ExecutionId
from engine.model.limits import ArrayLimits, ExecutionLimits, OffloadLimits, RetryLimits
from engine.model.placement import NO_RULES, PlacementRules
from engine.model.state import Execution
from engine.ports.blobstore import BlobStore
from engine.ports.cache import Cache
from engine.ports.clock import Clock
from engine.ports.eventlog import EventLog, Journal
from engine.ports.services import Services
from engine.ports.taskrunner import TaskRunner
from engine.ports.vetting import Vetting
from engine.ports.waits import Tells, told
from engine.registry.entries import Registry
from engine.registry.targets import Targets
from engine.wire.compile import compile_package
from engine.wire.package import Package, pack, unpack
from engine.wire.sizes import refuse_large
from handlers.registry import default_handlers, performers


async def nothing_printed(key: AttemptKey) -> AsyncGenerator[bytes, None]:
    """Of runners whose attempts print into the store."""
    pieces: tuple[bytes, ...] = ()
    for piece in pieces:
        yield piece


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """What the engines of one process share: one adapter for each port but the log, and the operator's limits."""

    blobs: BlobStore
    runner: TaskRunner
    clock: Clock
    offload: OffloadLimits
    retries: RetryLimits
    arrays: ArrayLimits
    executions: ExecutionLimits
    backoff: Backoff
    load: Callable[[str], Awaitable[Program]]
    """Gives the program of a package by its digest (`load_program` reads it from the store)."""
    placement: PlacementRules = NO_RULES
    """What the operator says of architectures."""
    vetting: Sequence[Vetting] = ()
    cache: Cache | None = None
    """None: what tasks gave is kept in the store."""
    hook: Hook = nothing
    meter: Meter | None = None
    """None: nobody wants to know how the engine does."""
    tells: Sequence[Tells] = ()
    """What knows for what attempts wait before they begin."""
    chores: Sequence[Door] = ()
    """Done beside every engine, as its doors are."""
    code_here: bool = True
    """Tasks find their modules where the engine has them; else in their image, or they fetch them."""
    expands: bool = False
    """What runs tasks expands `$(NAME)` and `$$` in commands, as Kubernetes does."""
    printed: Callable[[AttemptKey], AsyncGenerator[bytes, None]] = nothing_printed
    """What an attempt that runs elsewhere has printed up to now, where the store does not have it yet. Raises
    Transient."""
    hindrance: Callable[[], str] = lambda: ""
    """Why no task can be started just now, in words; empty: nothing is known to hinder it."""

    def rules(self) -> Rules:
        """What the machine decides with."""
        return Rules(default_handlers(), self.retries, self.arrays, self.executions)

    def parts(self, log: EventLog, doors: Sequence[Door] = ()) -> Parts:
        """Of the engine on a log."""
        return Parts(
            log=log, doors=(*doors, *self.chores), **{each.name: getattr(self, each.name) for each in fields(Equipment)}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts(Equipment):
    """What an engine is made of."""

    log: EventLog
    doors: Sequence[Door] = ()
    """Run beside the engine until it leaves: they hand in what others ask of it, and start what falls due."""


Door = Callable[["Engine"], Coroutine[object, object, None]]


class Engine:
    """A running engine, as its doors see it."""

    def __init__(self, parts: Parts, rules: Rules, residents: Residents, watchers: Watchers) -> None:
        self.parts, self.rules, self.residents, self.watchers = parts, rules, residents, watchers
        self.log, self.blobs = parts.log, parts.blobs
        self._names = Names(watchers)
        self._reception = Reception(parts.blobs, parts.runner, parts.clock, rules, residents.program, self._known)
        self.bell = Bell()

    delay_seconds: float | None = 0.0
    """It reads its own log."""

    @property
    def journal(self) -> Journal:
        """What is committed, to be read."""
        return self.log

    async def store_package(self, package: Package) -> str:
        """Keep a package in the store, so that executions outlive the author's files; its digest."""
        await self.blobs.put(self.blobs.uri(layout.package(package.digest)), pack(package), durable=True)
        return package.digest

    async def submit(
        self, execution: ExecutionId, entity: EntityId, package: str, inputs: bytes, *, overwrite_cache: bool = False
    ) -> None:
        """`accept` of an execution that is all defaults otherwise."""
        await self.accept(ExecutionSubmitted(execution, entity, package, overwrite_cache=overwrite_cache), inputs)

    async def accept(self, asked: ExecutionSubmitted, inputs: bytes) -> None:
        """Start an execution; returns when the submission is durable.

        asked: without a place for the inputs, a moment and a run, which it gets here. inputs: a serialized `LiteralMap`
        with every input of the workflow. The same submission twice is the same as once. Raises BadInput for a bad name,
        for a name that is taken by another submission, and for an entity that can't be run.
        """
        event = await self._reception.submission(asked, inputs)
        async with self._names.alone(event, inputs) as first:
            if first:
                await self._submit(event, inputs)

    async def _submit(self, event: ExecutionSubmitted, inputs: bytes) -> None:
        execution, uri = event.execution, event.inputs_uri
        known = await self._known(execution)
        if known is not None:
            self._names.forget(execution)
            await self._reception.refuse_other(known, event, inputs)
            return
        if self.residents.get(execution) is not None:
            raise BadInput(f"execution {execution.name} exists already (just submitted); choose another name")
        with self.residents.expecting(execution):
            # What an earlier run of this name left in its folders must not answer for this one.
            await self.blobs.delete(self.blobs.uri(layout.execution_prefix(execution)))
            if uri:
                await self.blobs.put(uri, inputs, durable=True)
            await self.log.append([event], durable=True)

    async def abort(self, execution: ExecutionId, cause: str) -> None:
        """Ask an execution to stop; returns when the request is durable."""
        await self.send([AbortRequested(execution, cause)])

    async def send(self, events: Sequence[Event]) -> None:
        """Append events; returns when they are durable. Raises BadInput for one above EVENT_BYTES."""
        for event in events:
            refuse_large(event)
        await self.log.append(events, durable=True)

    async def signal(self, execution: ExecutionId, signal_id: str, value: bytes) -> None:
        """Answer the gates of one id with a serialized `Literal`; returns when that is durable.

        Whether the value fits is found out by the gate that takes it.
        """
        await self.send([await self._reception.signal(execution, signal_id, value)])

    async def wait(self, execution: ExecutionId) -> Execution:
        """The execution, once it is terminal; also one that nobody has submitted yet."""
        with self.watchers.ending(execution) as ending:
            if not self.residents.knows(execution):
                known = await self._known(execution)
                if known is not None and known.terminal:
                    return known
            return await ending.wait()

    def printed(self, key: AttemptKey) -> AsyncGenerator[bytes, None]:
        """See Equipment."""
        return self.parts.printed(key)

    async def _known(self, execution: ExecutionId) -> Execution | None:
        return (await self.log.find([execution])).get(execution)

    def waits(self, execution: ExecutionId) -> dict[str, str]:
        """Path of a queued task -> what it waits for."""
        state = self.residents.get(execution)
        return queued_tasks(state, told(self.parts.tells, execution)) if state and self.parts.tells else {}

    def unfinished(self) -> Sequence[ExecutionId]:
        return [state.record.id for state in self.residents]


@asynccontextmanager
async def running(parts: Parts, watchers: Watchers | None = None, *, idle: bool = False) -> AsyncIterator[Engine]:
    """An engine that has taken up what its log holds and turns until the block is left; then its attempts are ended.

    `watchers` given from outside are told of what happens while the log is taken up, too. `idle`: it takes in what is
    asked of it and starts nothing; what is due is done by the next engine.
    """
    rules = parts.rules()
    residents, watchers = Residents(parts.load), watchers or Watchers()
    with _measured(parts.meter, residents, watchers):
        async with _started(parts, rules, residents, watchers, idle=idle) as engine:
            yield engine


@contextmanager
def _measured(meter: Meter | None, residents: Residents, watchers: Watchers) -> Iterator[None]:
    if meter is None:
        yield
        return
    meter.attend(residents)
    try:
        with watchers.watching(meter.see):
            yield
    finally:
        meter.leave(residents)


@asynccontextmanager
async def _started(
    parts: Parts, rules: Rules, residents: Residents, watchers: Watchers, *, idle: bool
) -> AsyncIterator[Engine]:
    async def append(events: Sequence[Event]) -> None:
        await parts.log.append(events, durable=False)

    outbox = Outbox(append)
    cache = parts.cache or StoreCache(parts.blobs)
    registry = Registry(parts.blobs)
    targets = Targets(registry, rules.handlers, residents.program, Refusals(parts.runner).of)
    requests = Requests(targets.find, parts.blobs, parts.clock, parts.backoff)
    runner = parts.runner if parts.meter is None else parts.meter.runner(parts.runner)
    services = Services(
        parts.blobs,
        runner,
        parts.clock,
        parts.offload,
        cache,
        outbox.hold,
        decided,
        parts.placement,
        parts.vetting,
        registry.packages,
        code_here=parts.code_here,
        expands=parts.expands,
    )
    async with anyio.create_task_group() as group:
        group.start_soon(outbox.run)
        timers = Timers(parts.clock, outbox.send)
        group.start_soon(timers.run)
        crew = Crew()
        await group.start(crew.run)
        hands = performers(rules.handlers.values())
        effects = Effects(crew, hands, services, outbox.send, parts.backoff, idle=idle, meter=parts.meter)
        supplies = Supplies(parts.log, residents, requests, parts.backoff)
        propeller = Propeller(parts.log, supplies, effects, rules, timers, watchers, parts.hook)
        await group.start(propeller.run)
        engine = Engine(parts, rules, residents, watchers)
        for door in () if idle else parts.doors:
            group.start_soon(door, engine)
        yield engine
        group.cancel_scope.cancel()


async def load_program(blobs: BlobStore, digest: str) -> Program:
    """A stored package, compiled. Raises BlobNotFound, and BadPackage for bytes that this version can't read."""
    uri = blobs.uri(layout.package(digest))
    data = await blobs.get(uri)
    return await anyio.to_thread.run_sync(lambda: compile_package(unpack(data, uri)).program)
