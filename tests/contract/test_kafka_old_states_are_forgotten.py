"""Finished executions are kept for a while, for those who ask again; then their records are deleted from the topic."""

from __future__ import annotations

import time

import pytest
from msgspec import structs

from engine.adapters.kafka.options import Topic
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Snapshot
from engine.ports.eventlog import Changes
from tests.contract.kafka_world import kafka_world
from tests.contract.log_nouns import execution, fact, named, node

pytestmark = pytest.mark.service("kafka")
DONE = execution("done", ExecutionPhase.SUCCEEDED)
NODES = [(named("done"), node("n0", NodePhase.SUCCEEDED)), (named("done"), node("n1", NodePhase.FAILED))]


async def test_they_are_found_until_then_with_their_nodes() -> None:
    async with kafka_world() as world:
        await world.log.commit((), Changes(executions=[execution("done"), execution("live")], nodes=NODES[:1]))
        await world.log.commit((), Changes(executions=[DONE], nodes=NODES[1:]))
        for _ in range(2):
            assert await world.log.find([named("done")]) == {named("done"): DONE}
            assert [snapshot.execution.id async for snapshot in world.log.restore()] == [named("live")]
            found = await world.log.snapshot(named("done"))
            assert found == Snapshot(DONE, tuple(one for _, one in NODES))
            await world.crash()


async def test_after_that_nothing_is_left_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    async with kafka_world(keep_finished_seconds=100.0) as world:
        await world.log.commit((), Changes(executions=[execution("live"), DONE], nodes=NODES))
        await world.crash()
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 50)
        await world.log.commit((), Changes(facts=[fact("live", 1)]))
        assert await world.log.find([named("done")]) == {named("done"): DONE}
        monkeypatch.setattr(time, "time", lambda: now + 101)
        await world.log.commit((), Changes(facts=[fact("live", 2)]))
        assert await world.log.find([named("done"), named("live")]) == {named("live"): execution("live")}
        records = {found.key: found.value for found in await world.records(Topic.STATE)}
        assert {key for key, value in records.items() if value} == {b"p:d:live", b"#claim"}
        await world.crash()
        assert await world.log.executions() == [execution("live")]
        assert await world.log.snapshot(named("done")) is None


async def test_a_name_may_be_used_again_after_that(monkeypatch: pytest.MonkeyPatch) -> None:
    async with kafka_world(keep_finished_seconds=0.0) as world:
        await world.log.commit((), Changes(executions=[DONE], nodes=NODES))
        await world.log.commit((), Changes(facts=[fact("other", 1)]))
        again = structs.replace(execution("done"), run="second")
        await world.log.commit((), Changes(executions=[again], nodes=NODES[:1]))
        await world.crash()
        assert [snapshot async for snapshot in world.log.restore()] == [Snapshot(again, (NODES[0][1],))]
