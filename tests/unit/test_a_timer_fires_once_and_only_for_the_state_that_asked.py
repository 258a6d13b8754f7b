from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio
import pytest

from engine.adapters.memory.clock import START, LoopClock
from engine.loop.timers import SPARE, Timers
from engine.model.events import Event, TimerFired
from engine.model.graph import NodeKind
from engine.model.ids import EntityId, EntityKind, ExecutionId
from engine.model.phases import NodePhase
from engine.model.state import Execution, Node

ENTITY = EntityId(EntityKind.WORKFLOW, "p", "d", "wf", "v")
RECORD = Execution(ExecutionId("p", "d", "e"), ENTITY, ENTITY, "digest", run="r")

pytestmark = pytest.mark.looptime


def waiting(path: str, at: float, attempt: int = 0) -> tuple[Execution, Node]:
    return RECORD, Node(path, NodeKind.GATE, NodePhase.RUNNING, attempt=attempt, wake_at=START + at)


def fired(path: str, at: float, attempt: int = 0) -> Event:
    return TimerFired(RECORD.key(path, attempt), START + at)


@asynccontextmanager
async def timers() -> AsyncIterator[tuple[Timers, list[tuple[float, Event]]]]:
    clock, seen = LoopClock(), list[tuple[float, Event]]()

    async def append(events: Sequence[Event]) -> None:
        seen.extend((clock.now() - START, event) for event in events)

    found = Timers(clock, append)
    async with anyio.create_task_group() as group:
        group.start_soon(found.run)
        yield found, seen
        group.cancel_scope.cancel()


async def test_each_fires_at_its_time_and_an_earlier_one_overtakes() -> None:
    async with timers() as (found, seen):
        found.follow([waiting("n0", 7200)])
        await anyio.sleep(1)
        found.follow([waiting("n1", 10), waiting("n2", 10)])
        await anyio.sleep(10_000)
    assert seen == [(10, fired("n1", 10)), (10, fired("n2", 10)), (7200, fired("n0", 7200))]


async def test_what_is_due_already_fires_at_once() -> None:
    async with timers() as (found, seen):
        found.follow([waiting("n0", -5)])
        await anyio.sleep(1)
    assert seen == [(0, fired("n0", -5))]


async def test_a_node_that_moved_on_is_left_alone() -> None:
    async with timers() as (found, seen):
        found.follow([waiting("n0", 10), waiting("n1", 10), waiting("n2", 10)])
        await anyio.sleep(1)
        found.follow([(RECORD, Node("n0", NodeKind.GATE, NodePhase.SUCCEEDED, wake_at=START + 10))])
        found.follow([(RECORD, Node("n1", NodeKind.GATE, NodePhase.RUNNING))])
        found.follow([waiting("n2", 20, attempt=1)])
        await anyio.sleep(100)
        assert len(found) == 0
    assert seen == [(20, fired("n2", 20, attempt=1))]


async def test_times_that_nobody_waits_for_any_more_are_forgotten() -> None:
    async with timers() as (found, seen):
        for number in range(5 * SPARE):
            found.follow([waiting("n0", 10_000 + number)])
        assert len(found._heap) <= SPARE + 2
        await anyio.sleep(20_000)
    assert seen == [(10_000 + 5 * SPARE - 1, fired("n0", 10_000 + 5 * SPARE - 1))]


async def test_the_same_state_again_changes_nothing() -> None:
    async with timers() as (found, seen):
        for _ in range(3):
            found.follow([waiting("n0", 10)])
        await anyio.sleep(100)
    assert seen == [(10, fired("n0", 10))]
