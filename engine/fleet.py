"""The engines of one process on Kafka: one for each partition of the events that it owns. Others own the rest."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

import anyio
from msgspec import structs

from engine.adapters.kafka.appender import Appender
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.follower import Follower
from engine.adapters.kafka.group import Group
from engine.adapters.kafka.log import KafkaLog
from engine.adapters.kafka.records import event_message
from engine.adapters.kafka.share import Share
from engine.adapters.workers import helpers
from engine.app import Door, Engine, Equipment, running
from engine.gateway.partitions import Standing
from engine.journals import OwnJournal
from engine.loop.bell import Bell
from engine.loop.programs import Programs
from engine.loop.reception import Reception
from engine.loop.taken import take
from engine.loop.watchers import Watchers
from engine.model.events import Event, ExecutionSubmitted
from engine.model.ids import ExecutionId
from engine.model.state import Execution
from engine.ports.eventlog import Journal
from engine.ports.projection import Projection
from engine.wire.sizes import refuse_large

SCHEDULING_PARTITION = 0
"""Whoever owns it keeps the schedules."""
DELAY_SECONDS = 1.0
"""Until a process reads what another one has committed: mostly some hundredths of a second."""

Duty = Callable[["Fleet"], Coroutine[object, object, None]]
"""What one process of the group does for all of them, beside its engines."""


class Projected(Journal, Projection, Protocol):
    """A projection that can be read."""


@dataclass(frozen=True, slots=True)
class View:
    """Of all executions, whoever works on them."""

    projection: Projected
    watchers: Watchers
    """Told of what is new in it."""


class Fleet:
    """A Service (engine.gateway.service): it takes what is asked of any execution, whoever owns its partition."""

    def __init__(
        self, equipment: Equipment, clients: Clients, appender: Appender, group: Group, view: View | None = None
    ) -> None:
        """`view`: what is read; None = what the engines of this process know."""
        self._options, self._appender, self._group = clients.options, appender, group
        # A partition that comes from another process mostly needs the programs that the others here have.
        programs = Programs(equipment.load)
        self._equipment, self.blobs, self.clock = replace(equipment, load=programs), equipment.blobs, equipment.clock
        rules = equipment.rules()
        self._reception = Reception(self.blobs, equipment.runner, self.clock, rules, programs, self._known)
        self._share = Share(clients, group, appender, self._work)
        self.engines: dict[int, Engine] = {}
        """By partition: those that have taken up all that was left unfinished."""
        self.journal: Journal = view.projection if view else OwnJournal(self.engines)
        self.watchers = view.watchers if view else Watchers()
        self._follower = Follower(clients, view.projection) if view else None
        self._has_caught_up = view is None
        self.bell = Bell()
        self.duties: Sequence[Duty] = ()

    @property
    def ready(self) -> bool:
        """Whether every partition that this process owns is restored (it may own none), and the view is up to date."""
        return self._has_caught_up and self._group.rebalances > 0 and self._group.owned <= self.engines.keys()

    def hindrance(self) -> str:
        """Why it is not ready, in words."""
        return self._equipment.hindrance() or ("" if self.ready else "restoring")

    @property
    def delay_seconds(self) -> float | None:
        return DELAY_SECONDS if self._has_caught_up else None

    @property
    def standing(self) -> Standing:
        lags = {partition: lag for partition, lag in self._share.lags().items() if partition in self.engines}
        restoring = len(self._group.owned - lags.keys())
        return Standing(self._group.rebalances, self._share.lost, restoring, lags)

    async def run(self) -> None:
        """Work on our share, for ever. Raises, in an exception group, what ends an engine, but for LogFailed."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._share.run)
            if self._follower is not None:
                await tasks.start(self._follower.run)
                self._has_caught_up = True
                if self._equipment.meter is not None:
                    self.watchers.add(self._equipment.meter.shown)

    async def accept(self, asked: ExecutionSubmitted, inputs: bytes) -> None:
        """Start an execution; returns when the submission is durable.

        As `engine.app.Engine.accept`, but a name stays taken for as long as its folder is in the store.
        """
        event = await self._reception.submission(asked, inputs)
        known = await self._known(event.execution)
        if known is not None:
            await self._reception.refuse_other(known, event, inputs)
            return
        event = structs.replace(event, run=await take(self.blobs, event, inputs))
        if event.inputs_uri:
            await self.blobs.put(event.inputs_uri, inputs, durable=True)
        await self.send([event])

    async def send(self, events: Sequence[Event]) -> None:
        """Append events; returns when they are durable. Raises BadInput for one that is too large."""
        for event in events:
            refuse_large(event)
        messages = [event_message(event, self._options) for event in events]
        await self._appender.send(messages, _nothing).wait()

    async def signal(self, execution: ExecutionId, signal_id: str, value: bytes) -> None:
        """Answer the gates of one id with a serialized `Literal`; returns when that is durable."""
        await self.send([await self._reception.signal(execution, signal_id, value)])

    def waits(self, execution: ExecutionId) -> dict[str, str]:
        """As Engine.waits, of those executions that engines of this process work on."""
        return {path: what for it in self.engines.values() for path, what in it.waits(execution).items()}

    async def _work(self, log: KafkaLog) -> None:
        """Run an engine on a partition, until it is cancelled. Raises LogFailed where the partition is lost."""
        doors: list[Door] = []
        if log.partition == SCHEDULING_PARTITION:
            doors = [self._door(duty) for duty in self.duties]
        async with running(self._equipment.parts(log, doors)) as engine:
            if self._follower is None:
                engine.watchers.add(self.watchers.tell)
            if self._equipment.meter is not None:
                self._equipment.meter.took_over(time.monotonic() - log.began)
            self.engines[log.partition] = engine
            try:
                await anyio.sleep_forever()
            finally:
                del self.engines[log.partition]

    def _door(self, duty: Duty) -> Door:
        return lambda _: duty(self)

    async def _known(self, execution: ExecutionId) -> Execution | None:
        return (await self.journal.find([execution])).get(execution)


def _nothing() -> None:
    """The failure is raised to whoever waits."""


@asynccontextmanager
async def fleet_on(
    equipment: Equipment, clients: Clients, duties: Sequence[Duty] = (), view: View | None = None
) -> AsyncIterator[Fleet]:
    """A member of the group that works on its share of the events until the block is left.

    Then its engines end first, and with them what they run; after that it leaves the group, so that others go on at
    once. A broker that is away is waited for some seconds in all. Raises LogFailed and others of EngineError, in an
    exception group, where nothing goes on any more.
    """
    async with Appender.open(clients) as appender, Group.join(clients) as group:
        fleet = Fleet(equipment, clients, appender, group, view)
        fleet.duties = duties
        async with helpers() as tasks:
            tasks.start_soon(fleet.run)
            try:
                yield fleet
            finally:
                clients.hurry()
