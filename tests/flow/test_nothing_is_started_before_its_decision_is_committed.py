"""While a decision is being committed its effects are prepared: values go to the store, and nobody else sees a thing.

A commit that comes to nothing (the disk is full, another process owns the partition) has started nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest

from engine.adapters.memory.log import MemoryLog
from engine.adapters.storecache import StoreCache
from engine.model import layout
from engine.model.cache import CacheKey, CachePolicy
from engine.model.errors import LogFailed
from engine.model.events import Event, ExecutionSubmitted
from engine.model.graph import Program
from engine.model.ids import AttemptKey
from engine.model.phases import ExecutionPhase
from engine.ports.blobstore import BlobStore
from engine.ports.cache import Reservation
from engine.ports.eventlog import Changes, Record
from tests.dataplane import serialized
from tests.flow.caching import cached_map, cached_task
from tests.flow.engines import EXECUTION, World
from tests.programs import chain, graph, node, plan, program

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

CHAIN, MAP = chain(1), cached_map(None)
SERIALIZED = cached_task(CachePolicy("1", serialize=True))


class _HeldLog(MemoryLog):
    """Its `n`-th commit waits until it may go on, or fails instead."""

    def __init__(self, n: int, *, fails: bool = False, shared: bool = False) -> None:
        super().__init__(shared=shared)
        self._left, self._fails = n, fails
        self.reached, self.go_on = anyio.Event(), anyio.Event()
        self.appended: list[Event] = []

    async def commit(self, records: Sequence[Record], changes: Changes) -> None:
        self._left -= 1
        if not self._left:
            self.reached.set()
            await self.go_on.wait()
            if self._fails:
                raise LogFailed("the disk is full")
        await super().commit(records, changes)

    async def append(self, events: Sequence[Event], *, durable: bool) -> None:
        self.appended += events
        await super().append(events, durable=durable)


class _Cache(StoreCache):
    def __init__(self, blobs: BlobStore) -> None:
        super().__init__(blobs)
        self.owners: list[str] = []

    async def reserve(self, key: CacheKey, owner: str) -> Reservation:
        self.owners.append(owner)
        return await super().reserve(key, owner)


def _parent() -> Program:
    child = chain(1)
    inner = next(iter(child.workflows.values()))
    child_plan = plan("child_plan", inner)
    return program([graph("outer", [node("n0", child_plan.id)]), inner], list(child.tasks.values()), [child_plan])


def _stored(world: World, key: str) -> bool:
    return world.blobs.uri(key) in world.blobs.objects


@pytest.mark.parametrize(
    ("chosen", "inputs", "commit", "prepared"),
    [
        (CHAIN, b"", 1, layout.attempt_inputs(AttemptKey(EXECUTION, "n0"))),
        (MAP, serialized(xs=[1, 2]), 2, layout.attempt_inputs(AttemptKey(EXECUTION, "n0", index=1))),
    ],
    ids=["task", "element of a map"],
)
async def test_an_attempt_is_prepared_and_does_not_begin(
    chosen: Program, inputs: bytes, commit: int, prepared: str
) -> None:
    world = World(chosen)
    world.log = log = _HeldLog(commit)
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, chosen.digest, inputs)
        await log.reached.wait()
        await anyio.sleep(100)

        assert _stored(world, prepared)
        assert world.runner.launches == {}

        log.go_on.set()
        assert (await engine.wait(EXECUTION)).phase is ExecutionPhase.SUCCEEDED
    assert set(world.runner.launches.values()) == {1}


@pytest.mark.parametrize(
    ("chosen", "inputs", "commit"),
    [(CHAIN, b"", 1), (CHAIN, b"", 2), (MAP, serialized(xs=[1, 2]), 2), (MAP, serialized(xs=[1, 2]), 4)],
    ids=["task", "outputs of the execution", "elements of a map", "gathered outputs"],
)
async def test_nothing_is_written_where_another_process_may_decide_otherwise(
    chosen: Program, inputs: bytes, commit: int
) -> None:
    """An engine that slept is at work again until its commit is refused: the new owner's values must stay."""
    world = World(chosen)
    world.log = log = _HeldLog(commit, shared=True)
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, chosen.digest, inputs)
        await log.reached.wait()
        before = dict(world.blobs.objects)
        await anyio.sleep(100)

        assert world.blobs.objects == before

        log.go_on.set()
        assert (await engine.wait(EXECUTION)).phase is ExecutionPhase.SUCCEEDED
    assert set(world.runner.launches.values()) == {1}


async def test_a_commit_that_fails_has_started_nothing() -> None:
    world = World(CHAIN)
    world.log = log = _HeldLog(1, fails=True)

    async def engine_until_its_log_fails() -> None:
        async with world.engine() as engine:
            await engine.submit(EXECUTION, world.first, CHAIN.digest, b"")
            await log.reached.wait()
            await anyio.sleep(100)
            log.go_on.set()
            await anyio.sleep_forever()

    with pytest.raises(ExceptionGroup) as ended:
        await engine_until_its_log_fails()

    assert ended.group_contains(LogFailed)
    assert world.runner.launches == {}


async def test_nobody_is_kept_from_a_cached_result_by_a_decision_that_is_not_committed() -> None:
    world = World(SERIALIZED)
    world.log, world.cache = log, cache = _HeldLog(1), _Cache(world.blobs)
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, SERIALIZED.digest, serialized(a=7))
        await log.reached.wait()
        await anyio.sleep(100)

        assert cache.owners == []

        log.go_on.set()
        assert (await engine.wait(EXECUTION)).phase is ExecutionPhase.SUCCEEDED
    assert len(cache.owners) == 1


async def test_a_child_execution_is_submitted_after_the_decision_for_it() -> None:
    world = World(_parent())
    world.log = log = _HeldLog(1)
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, world.program.digest, b"")
        await log.reached.wait()
        await anyio.sleep(100)

        assert [type(event).__name__ for event in log.appended] == ["ExecutionSubmitted"]

        log.go_on.set()
        await engine.wait(EXECUTION)
    assert [event.execution.name for event in log.appended if isinstance(event, ExecutionSubmitted)][1:] != []
