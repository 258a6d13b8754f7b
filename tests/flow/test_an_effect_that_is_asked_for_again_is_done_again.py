"""Twice asked for is once done, until its end is being told: what follows from that may ask for it once more."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest

from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.clock import LoopClock
from engine.adapters.memory.runner import NoopRunner
from engine.adapters.memory.scripts import SUCCESS, ends
from engine.adapters.storecache import StoreCache
from engine.loop.backoff import Backoff
from engine.loop.crew import Crew
from engine.loop.effects import Effects
from engine.model.effects import TakeSignal
from engine.model.events import Event, SignalRefused
from engine.model.graph import GateKind, GateSpec
from engine.model.ids import AttemptKey
from engine.model.limits import OffloadLimits
from engine.ports.services import Services
from handlers.gate import GateHandler
from handlers.registry import performers
from tests.flow.engines import EXECUTION

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

TAKE = TakeSignal(AttemptKey(EXECUTION, "n0"), GateSpec(GateKind.APPROVE, "go"), "memory://gone", (), {})


async def test_a_second_wish_is_heard_only_while_the_end_of_the_first_is_told() -> None:
    told: list[Event] = []
    blobs = MemoryBlobs()
    services = Services(blobs, NoopRunner(ends(SUCCESS)), LoopClock(), OffloadLimits(), StoreCache(blobs), told.append)

    async def append(events: Sequence[Event]) -> None:
        told.extend(events)
        if len(told) == 1:
            effects.launch([TAKE])
        await anyio.sleep(1)

    async with anyio.create_task_group() as group:
        crew = Crew()
        await group.start(crew.run)
        effects = Effects(crew, performers([GateHandler()]), services, append, Backoff())
        effects.launch([TAKE])
        effects.launch([TAKE])
        await anyio.sleep(10)
        group.cancel_scope.cancel()

    assert [type(event) for event in told] == [SignalRefused, SignalRefused]
