"""Keeps the schedules of the active launch plans: submits an execution at each time that falls due.

Each time has one execution name, so it is started once, however often it is submitted and by whomever. How far a
schedule has been kept is noted after each submission: an engine that was down starts behind it, and makes up for what
it missed.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Protocol

import anyio
import msgspec
from msgspec import Struct, structs

from engine.model import layout
from engine.model.errors import BadInput, BlobNotFound, Transient
from engine.model.events import ExecutionSubmitted
from engine.model.graph import LaunchPlanSpec
from engine.model.ids import EntityId, ExecutionId, label
from engine.model.schedules import Schedule
from engine.ports.clock import Clock
from engine.registry.activation import Activation, every_active, plan_of
from engine.registry.entries import Registry
from engine.registry.times import due, following
from engine.wire.inputs import inputs_for

LONGEST_NAP_SECONDS = 3600.0
"""A clock that is set forward, or a machine that was asleep, is noticed within this time."""
RETRY_SECONDS = 10.0
"""After a store that could not be reached."""

log = logging.getLogger(__name__)


class BellLike(Protocol):
    async def heard(self) -> None: ...


class EngineLike(Protocol):
    """What is asked of an engine (engine.app.Engine)."""

    @property
    def bell(self) -> BellLike: ...

    async def accept(self, asked: ExecutionSubmitted, inputs: bytes) -> None: ...


class _Fired(Struct, frozen=True):
    """Up to when the schedule of an activation has been kept."""

    since: float
    until: float


class _Kept(Struct, frozen=True):
    """The schedule of an active launch plan."""

    plan: LaunchPlanSpec
    schedule: Schedule
    package: str
    since: float
    until: float

    def next_after(self, now: float) -> float | None:
        return following(self.schedule, self.since, max(now, self.until))


class Schedules:
    def __init__(
        self, registry: Registry, clock: Clock, catch_up: int, look_seconds: float = LONGEST_NAP_SECONDS
    ) -> None:
        """`catch_up`: the most missed times of one launch plan that are made up for, the newest ones."""
        self._registry, self._clock, self._catch_up = registry, clock, catch_up
        self._look_seconds = look_seconds

    async def keep(self, engine: EngineLike) -> None:
        """Submit what falls due, for ever.

        An activation counts as soon as the engine's bell is rung, and at the latest after `look_seconds`.
        """
        kept: list[_Kept] | None = None
        looked = 0.0
        while True:
            try:
                if kept is None:
                    looked, kept = anyio.current_time(), await self._read()
                kept = [await self._fire(one, engine) for one in kept]
                now = self._clock.now()
                times = [at for one in kept if (at := one.next_after(now)) is not None]
                nap = min([at - now for at in times] + [self._look_seconds])
            except Transient as trouble:
                log.warning("schedules wait for the store", extra={"cause": str(trouble)})
                kept, nap = None, RETRY_SECONDS
            with anyio.move_on_after(max(nap, 0.0)):
                await engine.bell.heard()
                kept = None
            if anyio.current_time() - looked >= self._look_seconds:
                kept = None

    async def _read(self) -> list[_Kept]:
        found = [await self._one(activation) for activation in await every_active(self._registry)]
        return [one for one in found if one is not None]

    async def _one(self, activation: Activation) -> _Kept | None:
        """None: it has no schedule, or can't be read."""
        entry = (await self._registry.find([activation.id])).get(activation.id)
        if entry is None:
            return None
        try:
            plan = await plan_of(self._registry, entry)
        except (BadInput, BlobNotFound) as problem:
            log.error("a launch plan can't be read", extra={"plan": str(activation.id), "cause": str(problem)})
            return None
        if plan.schedule is None:
            return None
        (data,) = await self._registry.blobs.get_many([self._mark(activation.id)])
        fired = None if data is None else msgspec.msgpack.decode(data, type=_Fired)
        until = fired.until if fired is not None and fired.since == activation.since else activation.since
        return _Kept(plan, plan.schedule, entry.package, activation.since, until)

    async def _fire(self, one: _Kept, engine: EngineLike) -> _Kept:
        """Submit what is due of one launch plan."""
        times, skipped = due(one.schedule, one.since, one.until, self._clock.now(), self._catch_up)
        if skipped:
            log.warning("more times were missed than are made up for", extra={"plan": str(one.plan.id)})
        for at in times:
            await self._submit(one, at, engine)
            one = structs.replace(one, until=at)
            mark = msgspec.msgpack.encode(_Fired(one.since, one.until))
            await self._registry.blobs.put(self._mark(one.plan.id), mark, durable=True)
        return one

    async def _submit(self, one: _Kept, at: float, engine: EngineLike) -> None:
        plan = one.plan
        name = execution_name(plan.id, at)
        execution = ExecutionId(plan.id.project, plan.id.domain, name)
        kickoff = {one.schedule.kickoff_input: iso(at)} if one.schedule.kickoff_input else {}
        fields = {"plan": str(plan.id), "execution": str(execution)}
        try:
            await engine.accept(ExecutionSubmitted(execution, plan.id, one.package), inputs_for(plan, kickoff))
        except BadInput as problem:
            # Another version started it, or it can't be run at all: this time is over either way.
            log.warning("a scheduled execution was not started", extra={**fields, "cause": str(problem)})
        else:
            log.info("a scheduled execution was submitted", extra=fields)

    def _mark(self, id: EntityId) -> str:
        return self._registry.blobs.uri(layout.fired(id.project, id.domain, id.name))


def execution_name(id: EntityId, at: float) -> str:
    """The one name of the execution that a launch plan, in whatever version, starts at a time."""
    stamp = datetime.fromtimestamp(at, UTC).strftime("%Y%m%dt%H%M%S")
    return label(stamp, id.name.rpartition(".")[2], id.project, id.domain, id.name, str(round(at * 1_000_000)))


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()
