from __future__ import annotations

from engine.ports.eventlog import Changes
from tests.contract.log_adapters import LogWorld
from tests.contract.log_nouns import submitted, succeeded, take


async def test_what_was_stored_before_the_start_is_still_to_be_committed(log_world: LogWorld) -> None:
    await log_world.log.append([submitted("a"), submitted("b"), submitted("c")], durable=True)
    await log_world.log.commit((await log_world.log.read())[:1], Changes())
    await log_world.crash()
    log = log_world.log
    assert log.behind
    await log.append([succeeded("a")], durable=False)
    records = await log.read()
    assert log.behind
    await log.commit(records[:2], Changes())
    assert not log.behind


async def test_a_log_that_was_empty_or_read_to_its_end_is_not_behind(log_world: LogWorld) -> None:
    assert not log_world.log.behind
    await log_world.log.append([submitted("a")], durable=True)
    assert not log_world.log.behind
    await take(log_world.log)
    await log_world.crash()
    assert not log_world.log.behind
    await log_world.log.append([submitted("b")], durable=True)
    assert not log_world.log.behind
