from __future__ import annotations

from engine.model.ids import ExecutionId
from engine.ports.eventlog import BATCH_RECORDS, Changes
from tests.contract.log_adapters import LogWorld
from tests.contract.log_nouns import named, submitted, succeeded, take


async def test_durable_events_are_read_after_a_crash_and_others_are_gone(log_world: LogWorld) -> None:
    await log_world.log.append([succeeded("a")], durable=False)
    await log_world.log.append([submitted("b")], durable=True)
    await log_world.log.append([succeeded("c")], durable=False)
    await log_world.crash()
    assert await take(log_world.log) == [submitted("b")]


async def test_what_was_read_but_not_committed_is_read_again(log_world: LogWorld) -> None:
    await log_world.log.append([submitted("a")], durable=True)
    await log_world.log.read()
    await log_world.crash()
    assert await take(log_world.log) == [submitted("a")]


async def test_the_cursor_survives(log_world: LogWorld) -> None:
    await log_world.log.append([submitted("a"), submitted("b")], durable=True)
    records = await log_world.log.read()
    await log_world.log.commit(records[:1], Changes())
    await log_world.crash()
    assert await take(log_world.log) == [submitted("b")]


async def test_consumed_events_are_stored_durable_or_not(keeping_world: LogWorld) -> None:
    await keeping_world.log.append([submitted("a")], durable=True)
    await keeping_world.log.append([succeeded("a")], durable=False)
    await take(keeping_world.log)
    await keeping_world.log.append([succeeded("a", "n1")], durable=False)
    await keeping_world.crash()
    assert [record.event for record in await keeping_world.stored()] == [submitted("a"), succeeded("a")]


async def test_offsets_go_on_rising(log_world: LogWorld) -> None:
    await log_world.log.append([submitted("a")], durable=True)
    await take(log_world.log)
    last = (await log_world.stored())[-1].offset
    await log_world.crash()
    await log_world.log.append([submitted("b")], durable=False)
    (record,) = await log_world.log.read()
    assert record.offset > last


async def test_new_events_come_behind_those_of_before_the_crash(log_world: LogWorld) -> None:
    count = BATCH_RECORDS + 20
    await log_world.log.append([submitted(f"e{n}") for n in range(count)], durable=True)
    await log_world.crash()
    await log_world.log.append([submitted("x")], durable=False)
    await log_world.log.append([submitted("y")], durable=True)
    seen: list[ExecutionId] = []
    while len(seen) < count + 2:
        seen.extend(event.execution for event in await take(log_world.log) if event)
    assert seen == [named(name) for name in [*(f"e{n}" for n in range(count)), "x", "y"]]
