"""User case S33 (d): whoever takes a partition over fences the one before, which never writes again."""

from __future__ import annotations

import contextlib

import anyio
import pytest

from engine.adapters.kafka.options import Topic
from engine.model.errors import LogFailed
from engine.ports.eventlog import Changes
from tests.contract.kafka_world import kafka_world
from tests.contract.log_nouns import execution, fact, named, node, submitted, take

pytestmark = pytest.mark.service("kafka")


async def test_the_owner_before_can_not_commit_any_more() -> None:
    async with kafka_world() as world:
        old = world.log
        await old.append([submitted("a")], durable=True)
        records = await old.read()
        new = await world.open()
        changes = Changes(executions=[execution("a")], facts=[fact("a", 1)], events=[submitted("zombie")])
        with pytest.raises(LogFailed, match="partition 0 of the events belongs to another engine now"):
            await old.commit(records, changes)
        for call in (old.read(), old.commit(records, changes), old.append([submitted("b")], durable=True)):
            with pytest.raises(LogFailed):
                await call
        assert await new.executions() == []
        assert await new.history(named("a")) == []
        assert await take(new, Changes(facts=[fact("a", 1)])) == [submitted("a")]
        assert await new.history(named("a")) == [fact("a", 1)]
        assert [record.event for record in await world.stored()] == [submitted("a")]


async def test_the_new_owner_is_not_disturbed_by_the_old_one() -> None:
    async with kafka_world() as world:
        old = world.log
        await old.commit((), Changes(executions=[execution("a")], nodes=[(named("a"), node("n0"))]))
        new = await world.open()
        with pytest.raises(LogFailed):
            await old.commit((), Changes(facts=[fact("a", 1)]))
        renewals = new._transactions.renewals
        for number in range(1, 4):
            await new.commit((), Changes(facts=[fact("a", number)]))
        assert new._transactions.renewals == renewals
        assert [it.sequence for it in await new.history(named("a"))] == [1, 2, 3]


async def test_of_many_that_take_over_at_once_one_stays() -> None:
    async with kafka_world() as world:
        logs = [world.log]

        async def take_over() -> None:
            # One that was overtaken before it was there tells so at once.
            with contextlib.suppress(LogFailed):
                logs.append(await world.open())

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(take_over)
        done: list[int] = []
        for number, log in enumerate(logs):
            try:
                await log.commit((), Changes(facts=[fact(f"e{number}", 1)]))
                done.append(number)
            except LogFailed:
                continue
        assert len(done) == 1
        facts = await world.records(Topic.HISTORY)
        assert [record.key for record in facts] == [f"p:d:e{done[0]}".encode()]


async def test_a_partition_that_was_given_away_is_not_written() -> None:
    async with kafka_world() as world:
        world.log._transactions._still_ours = lambda: False
        with pytest.raises(LogFailed, match="was given to another engine"):
            await world.log.commit((), Changes(facts=[fact("a", 1)]))
        assert await world.records(Topic.HISTORY) == []
