"""The composition root: builds an engine from any parts, one adapter a port, and runs it (homes.py has the parts)."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields

import anyio
import anyio.to_thread
from msgspec import structs

from engine.adapters.storecache import StoreCache
from engine.loop.backoff import Backoff
from engine.loop.bell import Bell
from engine.loop.crew import Crew
from engine.loop.effects import Effects
from engine.loop.hooks import Hook, nothing
from engine.loop.meter import Meter
from engine.loop.outbox import Outbox
from engine.loop.propeller import Propeller
from engine.loop.residents import Residents
from engine.loop.submissions import Names
from engine.loop.timers import Timers
from engine.loop.watchers import Watchers
from engine.machine import recovery, step
from engine.machine.draft import Rules
from engine.model import layout
from engine.model.errors import BadInput
from engine.model.events import AbortRequested, Event, ExecutionSubmitted, SignalSet
from engine.model.graph import Program
from engine.model.ids import DNS_LABEL, EntityId, ExecutionId
from engine.model.limits import EVENT_BYTES, ArrayLimits, ExecutionLimits, OffloadLimits, RetryLimits
from engine.model.state import Execution
from engine.ports.blobstore import BlobStore
from engine.ports.cache import Cache
from engine.ports.clock import Clock
from engine.ports.eventlog import EventLog, Journal
from engine.ports.services import Services
from engine.ports.taskrunner import TaskRunner
from engine.registry.entries import Registry
from engine.wire.codec import pack_event
from engine.wire.compile import compile_package
from engine.wire.lookup import reached_tasks
from engine.wire.package import Package, pack, unpack
from handlers.registry import default_handlers, performers


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
    cache: Cache | None = None
    """None: what tasks gave is kept in the store."""
    hook: Hook = nothing
    meter: Meter | None = None
    """None: nobody wants to know how the engine does."""

    def parts(self, log: EventLog, doors: Sequence[Door] = ()) -> Parts:
        """Of the engine on a log."""
        return Parts(log=log, doors=doors, **{each.name: getattr(self, each.name) for each in fields(Equipment)})


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
        self._runnable: set[tuple[str, EntityId]] = set()
        self.bell = Bell()

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
        execution = asked.execution
        if not DNS_LABEL.match(execution.name):
            raise BadInput(
                f"execution name {execution.name!r} is not a DNS label (1 to 63 of a-z, 0-9 and '-', neither first nor "
                "last a dash); nothing was started"
            )
        program = await self.residents.program(asked.package)
        problem = step.unusable(asked.entity, program, self.rules) or await self._refused(program, asked.entity)
        if problem:
            raise BadInput(f"{asked.entity} can't be run: {problem}; nothing was started")
        if asked.recovers is not None:
            await self._check_source(asked.recovers)
        event = structs.replace(
            asked,
            inputs_uri=self.blobs.uri(layout.workflow_inputs(execution)) if inputs else "",
            submitted_at=self.parts.clock.now(),
            run=secrets.token_hex(8),
        )
        _refuse_large(event)
        async with self._names.alone(event, inputs) as first:
            if first:
                await self._submit(event, inputs)

    async def _refused(self, program: Program, entity: EntityId) -> str:
        """The tasks that the runner can't run, with the reason; "" = it runs all. What it runs once it always runs."""
        if (program.digest, entity) in self._runnable:
            return ""
        told = [(task.id, await self.parts.runner.refuses(task)) for task in reached_tasks(program, entity)]
        problem = "; ".join(f"{id}: {reason}" for id, reason in sorted(told) if reason)
        if not problem:
            self._runnable.add((program.digest, entity))
        return problem

    async def _submit(self, event: ExecutionSubmitted, inputs: bytes) -> None:
        execution, uri = event.execution, event.inputs_uri
        known = await self._known(execution)
        if known is not None:
            self._names.forget(execution)
            await self._refuse_other(known, event, inputs)
            return
        with self.residents.expecting(execution):
            # What an earlier run of this name left in its folders must not answer for this one.
            await self.blobs.delete(self.blobs.uri(layout.execution_prefix(execution)))
            if uri:
                await self.blobs.put(uri, inputs, durable=True)
            await self.log.append([event], durable=True)

    async def _check_source(self, source: ExecutionId) -> None:
        known = await self._known(source)
        problem = recovery.refusal(known) if known else f"there is no execution {source.name}"
        if problem:
            raise BadInput(f"{problem}; nothing was started")

    async def _refuse_other(self, known: Execution, event: ExecutionSubmitted, inputs: bytes) -> None:
        same = step.same_submission(known, event)
        if same and event.inputs_uri:
            same = await self.blobs.get(event.inputs_uri) == inputs
        if not same:
            raise BadInput(
                f"execution {known.id.name} exists already ({known.phase.value}) with another workflow or other "
                "inputs; choose another name"
            )

    async def abort(self, execution: ExecutionId, cause: str) -> None:
        """Ask an execution to stop; returns when the request is durable."""
        await self.send([AbortRequested(execution, cause)])

    async def send(self, events: Sequence[Event]) -> None:
        """Append events; returns when they are durable. Raises BadInput for one above EVENT_BYTES."""
        for event in events:
            _refuse_large(event)
        await self.log.append(events, durable=True)

    async def signal(self, execution: ExecutionId, signal_id: str, value: bytes) -> None:
        """Answer the gates of one id with a serialized `Literal`; returns when that is durable.

        Whether the value fits is found out by the gate that takes it.
        """
        uri = self.blobs.uri(layout.signal(execution, signal_id, value))
        _refuse_large(SignalSet(execution, signal_id, uri))
        await self.blobs.put(uri, value, durable=True)
        await self.send([SignalSet(execution, signal_id, uri)])

    async def wait(self, execution: ExecutionId) -> Execution:
        """The execution, once it is terminal; also one that nobody has submitted yet."""
        with self.watchers.ending(execution) as ending:
            if not self.residents.knows(execution):
                known = await self._known(execution)
                if known is not None and known.terminal:
                    return known
            return await ending.wait()

    async def _known(self, execution: ExecutionId) -> Execution | None:
        return (await self.log.find([execution])).get(execution)

    def unfinished(self) -> Sequence[ExecutionId]:
        return [state.record.id for state in self.residents]


def _refuse_large(event: Event) -> None:
    size = len(pack_event(event))
    if size > EVENT_BYTES:
        raise BadInput(
            f"what was asked of execution {event.execution.name} takes {size} bytes beside its inputs; at most "
            f"{EVENT_BYTES} can be kept. Give long texts as inputs; nothing was started"
        )


@asynccontextmanager
async def running(parts: Parts, watchers: Watchers | None = None, *, idle: bool = False) -> AsyncIterator[Engine]:
    """An engine that has taken up what its log holds and turns until the block is left; then its attempts are ended.

    `watchers` given from outside are told of what happens while the log is taken up, too. `idle`: it takes in what is
    asked of it and starts nothing; what is due is done by the next engine.
    """
    handlers = default_handlers()
    rules = Rules(handlers, parts.retries, parts.arrays, parts.executions)
    residents, watchers = Residents(parts.load), watchers or Watchers()
    if parts.meter is not None:
        parts.meter.attend(residents)
        watchers.add(parts.meter.see)

    async def append(events: Sequence[Event]) -> None:
        await parts.log.append(events, durable=False)

    outbox = Outbox(append)
    cache = parts.cache or StoreCache(parts.blobs)
    registered = Registry(parts.blobs).packages
    services = Services(parts.blobs, parts.runner, parts.clock, parts.offload, cache, outbox.hold, registered)
    async with anyio.create_task_group() as group:
        group.start_soon(outbox.run)
        timers = Timers(parts.clock, outbox.send)
        group.start_soon(timers.run)
        crew = Crew()
        await group.start(crew.run)
        hands = performers(handlers.values())
        effects = Effects(crew, hands, services, outbox.send, parts.backoff, idle=idle, meter=parts.meter)
        propeller = Propeller(parts.log, residents, effects, rules, timers, watchers, parts.hook)
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
