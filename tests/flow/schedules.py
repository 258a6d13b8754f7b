"""Launch plans with schedules on the memory adapters, and engines that keep them while they come and go."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

import anyio
import pytest
from anyio import to_thread
from flyteidl.admin.launch_plan_pb2 import LaunchPlan
from flyteidl.admin.workflow_pb2 import WorkflowSpec
from flyteidl.core.types_pb2 import LiteralType, SimpleType

from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.clock import START, LoopClock
from engine.adapters.memory.log import MemoryLog
from engine.adapters.memory.runner import NoopRunner
from engine.adapters.memory.scripts import copies
from engine.app import Engine, Parts, load_program, running
from engine.loop.backoff import Backoff
from engine.model.limits import ArrayLimits, ExecutionLimits, OffloadLimits, RetryLimits
from engine.registry.activation import Activation, activate
from engine.registry.entries import Registry
from engine.registry.registering import register_package
from engine.registry.schedules import Schedules
from engine.wire.natural import natural_map
from tests import packages

T = TypeVar("T")
TIME = LiteralType(simple=SimpleType.DATETIME)


def nightly(schedule: str = "@daily", *, name: str = "m.nightly", kickoff: bool = True) -> LaunchPlan:
    """A launch plan of `echo`; "3600" as its schedule is a rate of so many minutes."""
    plan = packages.plan(name, echo())
    message = plan.spec.entity_metadata.schedule
    if schedule.isdigit():
        message.rate.value = int(schedule)
    else:
        message.cron_schedule.schedule = schedule
    message.kickoff_time_input_arg = "at" if kickoff else ""
    return plan


def echo() -> WorkflowSpec:
    """Gives the time it gets."""
    return packages.workflow("m.w", inputs={"at": TIME}, gives={"o0": (TIME, packages.given("at"))})


@pytest.fixture(scope="module", autouse=True)
def threads_take_no_time() -> Iterator[None]:
    """A clock that jumps does not wait for a thread, so what would run in one runs here."""

    async def run_sync(work: Callable[..., T], *arguments: object, **_: object) -> T:
        return work(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(to_thread, "run_sync", run_sync)
        yield


class Shop:
    """Log, store and clock survive; engines come and go."""

    def __init__(self, *, catch_up: int = 100) -> None:
        self.log, self.blobs = MemoryLog(), MemoryBlobs()
        self.clock = LoopClock(START)
        self.registry = Registry(self.blobs)
        self.catch_up = catch_up

    async def active(self, plan: LaunchPlan, version: str = "v1") -> Activation:
        """Register and activate a launch plan."""
        package = packages.registered(echo(), plan, version=version)
        done = await register_package(self.registry, package, "package", "", self.clock.now())
        (id,) = done.program.launch_plans
        return await activate(self.registry, (await self.registry.find([id]))[id], self.clock.now())

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Engine]:
        schedules = Schedules(self.registry, self.clock, self.catch_up)
        parts = Parts(
            log=self.log,
            blobs=self.blobs,
            runner=NoopRunner(copies(self.blobs)),
            clock=self.clock,
            offload=OffloadLimits(),
            retries=RetryLimits(),
            arrays=ArrayLimits(),
            executions=ExecutionLimits(),
            backoff=Backoff(),
            load=partial(load_program, self.blobs),
            doors=[schedules.keep],
        )
        async with running(parts) as engine:
            yield engine

    @asynccontextmanager
    async def serving_beside(self, engine: Engine) -> AsyncIterator[None]:
        """A second service that keeps the same schedules and submits to the same log."""
        schedules = Schedules(Registry(self.blobs), self.clock, self.catch_up)
        async with anyio.create_task_group() as group:
            group.start_soon(schedules.keep, engine)
            yield
            group.cancel_scope.cancel()

    def crash(self) -> None:
        """What was not durable is gone."""
        self.log = self.log.crash()

    async def outcomes(self) -> list[str]:
        """The times that scheduled executions got, as far as they have ended, in the order of the submissions."""
        records = await self.log.executions()
        return [await self._time(record.outputs_uri) for record in records if record.terminal]

    async def _time(self, uri: str) -> str:
        value = natural_map(await self.blobs.get(uri), uri)["o0"]
        assert isinstance(value, str)
        return value
