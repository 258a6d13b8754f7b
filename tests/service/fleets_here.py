"""Fleets in this process, on the broker of this run: they share topics, a store and a clock, and come and go."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio

from engine.adapters.kafka import topics
from engine.adapters.kafka.clients import Clients
from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.runner import NoopRunner
from engine.adapters.memory.scripts import copies
from engine.app import Equipment, load_program
from engine.fleet import Duty, Fleet, fleet_on
from engine.loop.backoff import Backoff
from engine.model.graph import Program
from engine.model.limits import ArrayLimits, ExecutionLimits, OffloadLimits, RetryLimits
from engine.model.state import Execution, Fact
from engine.registry.entries import Registry
from tests.contract.kafka_world import fresh_options


class FastClock:
    """A minute passes in a second."""

    def __init__(self, rate: float = 60.0) -> None:
        self._rate, self._began, self._real = rate, time.time(), time.monotonic()

    def now(self) -> float:
        return self._began + self._rate * (time.monotonic() - self._real)


class Ends:
    """Counts the executions that end."""

    def __init__(self) -> None:
        self.count = 0
        self._more = anyio.Event()

    def see(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
        self.count += sum(record.terminal for record in executions)
        self._more.set()
        self._more = anyio.Event()

    async def more(self, number: int) -> None:
        """Wait for so many, from now on."""
        await self.all(self.count + number)

    async def all(self, until: int) -> None:
        with anyio.fail_after(60):
            while self.count < until:
                await self._more.wait()


class Here:
    def __init__(self, partitions: int) -> None:
        self.options = fresh_options(partitions=partitions, session_seconds=3.0)
        self.clients = Clients(self.options, {})
        self.blobs, self.clock = MemoryBlobs(), FastClock()
        self.registry = Registry(self.blobs)
        self.may_load = anyio.Event()
        """Until it is set no package can be read."""
        self.may_load.set()

    async def load(self, digest: str) -> Program:
        await self.may_load.wait()
        return await load_program(self.blobs, digest)

    @asynccontextmanager
    async def fleet(self, name: str, duties: Sequence[Duty] = ()) -> AsyncIterator[Fleet]:
        """A member of the group until the block is left."""
        await topics.prepare(self.clients)
        equipment = Equipment(
            blobs=self.blobs,
            runner=NoopRunner(copies(self.blobs)),
            clock=self.clock,
            offload=OffloadLimits(),
            retries=RetryLimits(),
            arrays=ArrayLimits(),
            executions=ExecutionLimits(),
            backoff=Backoff(),
            load=self.load,
        )
        clients = Clients(replace(self.options, instance=f"{self.options.group}-{name}"), {})
        async with fleet_on(equipment, clients, duties) as fleet:
            yield fleet


async def until(holds: Callable[[], bool]) -> None:
    """Asked again and again, as a probe is."""
    with anyio.fail_after(60):
        while True:
            if holds():
                return
            await anyio.sleep(0.02)
