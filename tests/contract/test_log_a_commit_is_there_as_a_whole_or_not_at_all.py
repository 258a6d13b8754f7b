from __future__ import annotations

import pytest

from engine.model.errors import Defect, Failure, LogFailed
from engine.model.errors import ErrorKind as Kind
from engine.model.state import Fact
from engine.ports.eventlog import Changes, DeadLetter
from tests.contract.log_adapters import LogWorld
from tests.contract.log_nouns import TOO_BIG, execution, fact, named, node, submitted, succeeded, take

BIG = Failure("Big", Kind.USER, "x" * 4_000_000)


def changes(*facts: Fact) -> Changes:
    return Changes(
        executions=[execution("a")],
        nodes=[(named("a"), node("n0"))],
        facts=[fact("a", 1), *facts],
        events=[submitted("child")],
        dead_letters=[DeadLetter(1, b"raw", "odd")],
    )


async def nothing_but_the_submission(world: LogWorld) -> None:
    assert await world.log.snapshot(named("a")) is None
    assert await world.log.history(named("a")) == []
    assert await world.log.dead_letters() == []
    assert [record.event for record in await world.stored()] == [submitted("a")]


async def test_everything_of_a_commit_survives_a_crash(log_world: LogWorld) -> None:
    await log_world.log.append([submitted("a")], durable=False)
    await take(log_world.log, changes())
    await log_world.crash()
    log = log_world.log
    snapshot = await log.snapshot(named("a"))
    assert snapshot is not None
    assert (snapshot.execution, snapshot.nodes) == (execution("a"), (node("n0"),))
    assert await log.history(named("a")) == [fact("a", 1)]
    assert await log.dead_letters() == [DeadLetter(1, b"raw", "odd")]
    assert await take(log) == [submitted("child")]


async def test_a_commit_that_cannot_be_packed_leaves_nothing_and_may_be_replaced(log_world: LogWorld) -> None:
    log = log_world.log
    await log.append([submitted("a")], durable=True)
    records = await log.read()
    with pytest.raises(Defect, match="Fact can't be packed"):
        await log.commit(records, changes(fact("a", TOO_BIG)))
    await nothing_but_the_submission(log_world)
    assert await take(log, Changes(executions=[execution("a")])) == [submitted("a")]
    assert await log.executions() == [execution("a")]


async def test_a_history_fact_with_a_number_that_is_taken_is_a_defect_and_leaves_nothing(log_world: LogWorld) -> None:
    await log_world.log.append([submitted("a")], durable=True)
    records = await log_world.log.read()
    with pytest.raises(Defect):
        await log_world.log.commit(records, changes(fact("a", 1)))
    await nothing_but_the_submission(log_world)
    await log_world.crash()
    await nothing_but_the_submission(log_world)


async def test_a_commit_on_a_full_disk_leaves_nothing(log_world: LogWorld) -> None:
    await log_world.log.append([submitted("a")], durable=True)
    records = await log_world.log.read()
    await log_world.fill_disk()
    with pytest.raises(LogFailed):
        await log_world.log.commit(records, changes(Fact(named("a"), 2, 1.0, "FAILED", error=BIG)))
    await nothing_but_the_submission(log_world)
    await log_world.crash()
    await nothing_but_the_submission(log_world)
    assert await take(log_world.log) == [submitted("a")]


async def test_after_a_failure_the_log_takes_nothing_more_and_gives_nothing_more(log_world: LogWorld) -> None:
    log = log_world.log
    await log.append([submitted("a")], durable=True)
    records = await log.read()
    await log_world.fill_disk()
    with pytest.raises(LogFailed):
        await log.commit(records, changes(Fact(named("a"), 2, 1.0, "FAILED", error=BIG)))
    with pytest.raises(LogFailed):
        await log.append([succeeded("a")], durable=False)
    with pytest.raises(LogFailed):
        await log.append([submitted("b")], durable=True)
    with pytest.raises(LogFailed):
        await log.commit(records, Changes())
    with pytest.raises(LogFailed):
        await log.read()


async def test_an_event_cannot_be_committed_twice(log_world: LogWorld) -> None:
    log = log_world.log
    await log.append([submitted("a")], durable=True)
    records = await log.read()
    await log.commit(records, Changes())
    with pytest.raises(Defect, match=f"event {records[0].offset} "):
        await log.commit(records, Changes())
