"""`behind`: whether events of an earlier process are still to be processed."""

from __future__ import annotations

from tests.contract.log_adapters import LogWorld
from tests.contract.log_nouns import submitted, take


async def test_a_log_is_behind_until_the_events_of_before_the_crash_are_committed(log_world: LogWorld) -> None:
    await log_world.log.append([submitted("a")], durable=True)
    await log_world.crash()
    assert log_world.log.behind
    records = await log_world.log.read()
    assert log_world.log.behind, "read is not committed"
    assert len(records) == 1
    await take(log_world.log)
    assert not log_world.log.behind


async def test_new_events_put_no_log_behind(log_world: LogWorld) -> None:
    assert not log_world.log.behind
    await log_world.log.append([submitted("a")], durable=True)
    assert not log_world.log.behind
    await log_world.crash()
    await take(log_world.log)
    await log_world.log.append([submitted("b")], durable=True)
    assert not log_world.log.behind
