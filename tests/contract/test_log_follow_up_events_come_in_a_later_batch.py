from __future__ import annotations

from engine.ports.eventlog import Changes
from tests.contract.log_adapters import LogWorld
from tests.contract.log_nouns import submitted, succeeded, take


async def test_follow_ups_are_read_after_the_commit_that_made_them(log_world: LogWorld) -> None:
    log = log_world.log
    await log.append([submitted("a"), submitted("b")], durable=False)
    assert await take(log, Changes(events=[submitted("child")])) == [submitted("a"), submitted("b")]
    await log.append([succeeded("a")], durable=False)
    assert await take(log, count=2) == [submitted("child"), succeeded("a")]


async def test_follow_ups_are_durable(log_world: LogWorld) -> None:
    await log_world.log.append([submitted("a")], durable=False)
    await take(log_world.log, Changes(events=[submitted("child"), submitted("other")]))
    await log_world.crash()
    assert await take(log_world.log, count=2) == [submitted("child"), submitted("other")]


async def test_a_commit_without_records_moves_nothing(log_world: LogWorld) -> None:
    log = log_world.log
    await log.append([submitted("a")], durable=True)
    await log.commit((), Changes(events=[submitted("child")]))
    assert await take(log, count=2) == [submitted("a"), submitted("child")]
