"""A projection of the topics in a process that owns none of the partitions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from msgspec import structs

from engine.adapters.kafka.follower import Follower, source_of
from engine.adapters.kafka.keys import partition_of
from engine.adapters.sqlite.projection import SqliteProjection
from engine.model.ids import ExecutionId
from engine.model.phases import ExecutionPhase
from engine.model.state import Execution, Snapshot
from engine.ports.eventlog import Changes, Selection
from engine.ports.projection import Update
from tests.contract.kafka_world import KafkaWorld, kafka_world
from tests.contract.log_nouns import execution, fact, named, node
from tests.contract.projected import Told

pytestmark = pytest.mark.service("kafka")
BOTH = [named("a"), next(it for n in range(99) if partition_of(it := named(f"b{n}"), 2) != partition_of(named("a"), 2))]
"""Of different partitions."""


class Heard(Told):
    """With a way to wait for what is told."""

    def __init__(self) -> None:
        super().__init__()
        self._more = anyio.Event()

    def hear(self, *new: object) -> None:
        super().hear(*new)  # type: ignore[arg-type]
        self._more.set()
        self._more = anyio.Event()

    async def until(self, count: int) -> None:
        """So many facts."""
        while len(self.facts) < count:
            await self._more.wait()

    async def until_known(self, id: ExecutionId) -> None:
        """States and history are read side by side: either may be a moment later."""
        while all(record.id != id for record in self.executions):
            await self._more.wait()


@asynccontextmanager
async def following(world: KafkaWorld, folder: Path, heard: Heard) -> AsyncIterator[SqliteProjection]:
    """A projection that has caught up, and goes on."""
    options = world.clients.options
    path = folder / "projection.db"
    async with (
        SqliteProjection.open(path, source_of(options), options.keep_finished_seconds, heard.hear) as projection,
        anyio.create_task_group() as tasks,
    ):
        await tasks.start(Follower(world.clients, projection).run)
        yield projection
        tasks.cancel_scope.cancel()


async def commit(world: KafkaWorld, id: ExecutionId, numbers: range, record: Execution) -> None:
    log = await world.open(partition_of(id, 2), None)
    changes = Changes([record], [(id, node("n0"))], [structs.replace(fact("a", it), execution=id) for it in numbers])
    await log.commit((), changes)
    await world.let_go()


def of(id: ExecutionId, phase: ExecutionPhase = ExecutionPhase.RUNNING) -> Execution:
    return structs.replace(execution("a", phase), id=id)


async def test_every_partition_is_there_and_what_is_new_is_told(tmp_path: Path) -> None:
    async with kafka_world(partitions=2) as world:
        for id in BOTH:
            await commit(world, id, range(1, 3), of(id))
        heard = Heard()
        async with following(world, tmp_path, heard) as projection:
            assert {record.id for record in await projection.select(Selection())} == set(BOTH)
            for id in BOTH:
                assert await projection.snapshot(id) == Snapshot(of(id), (node("n0"),))
                assert [each.sequence for each in await projection.history(id)] == [1, 2]
            before = len(heard.facts)
            await commit(world, BOTH[1], range(3, 4), of(BOTH[1], ExecutionPhase.SUCCEEDED))
            await heard.until(before + 1)
            assert (heard.facts[-1].execution, heard.facts[-1].sequence) == (BOTH[1], 3)
            assert [each.sequence for each in await projection.history(BOTH[1], after=2)] == [3]


async def test_a_reader_goes_on_where_it_was_and_a_deleted_file_is_made_anew(tmp_path: Path) -> None:
    async with kafka_world(partitions=2) as world:
        for id in BOTH:
            await commit(world, id, range(1, 3), of(id))
        async with following(world, tmp_path, Heard()):
            pass
        await commit(world, BOTH[0], range(3, 4), of(BOTH[0]))
        again = Heard()
        async with following(world, tmp_path, again) as projection:
            await again.until(1)
            assert [(each.execution, each.sequence) for each in again.facts] == [(BOTH[0], 3)]
            kept = await projection.select(Selection())
        await anyio.Path(tmp_path / "projection.db").unlink()
        anew = Heard()
        async with following(world, tmp_path, anew) as projection:
            await anew.until(5)
            assert await projection.select(Selection()) == kept


async def test_a_projection_that_is_ahead_of_its_topics_is_made_anew(tmp_path: Path) -> None:
    async with kafka_world(partitions=2) as world:
        await commit(world, BOTH[0], range(1, 3), of(BOTH[0]))
        options = world.clients.options
        path = tmp_path / "projection.db"
        async with SqliteProjection.open(path, source_of(options), 1e9, Heard().hear) as projection:
            await projection.absorb(Update(positions={f"{options.prefix}.history/1": 10**9}))
        heard = Heard()
        async with following(world, tmp_path, heard) as projection:
            await heard.until(2)
            assert [record.id for record in await projection.select(Selection())] == BOTH[:1]


async def test_what_the_engines_have_forgotten_is_gone(tmp_path: Path) -> None:
    async with kafka_world(partitions=1, keep_finished_seconds=0.0) as world:
        ended = execution("a", ExecutionPhase.SUCCEEDED)
        await world.log.commit((), Changes([ended], [(named("a"), node("n0"))], [fact("a", 1)]))
        heard = Heard()
        async with following(world, tmp_path, heard) as projection:
            await heard.until(1)
            await world.log.commit((), Changes([execution("b")], facts=[fact("b", 1)]))
            await heard.until(2)
            await heard.until_known(named("b"))
            assert await projection.find([named("a")]) == {}
            assert await projection.history(named("a")) == []
