from __future__ import annotations

import anyio
from anyio.lowlevel import checkpoint

from engine.ports.eventlog import BATCH_RECORDS, Changes, Record
from tests.contract.log_adapters import LogWorld
from tests.contract.log_nouns import named, submitted, take


async def test_read_waits_until_there_is_an_event(log_world: LogWorld) -> None:
    log, seen = log_world.log, list[Record]()

    async def read() -> None:
        seen.extend(await log.read())

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        for _ in range(5):
            await checkpoint()
        assert seen == []
        await log.append([submitted("a")], durable=False)
    assert [record.event for record in seen] == [submitted("a")]


async def test_a_batch_has_at_most_500_records_and_the_rest_follows(log_world: LogWorld) -> None:
    log = log_world.log
    await log.append([submitted(f"e{n}") for n in range(BATCH_RECORDS + 3)], durable=False)
    first, second = await take(log), await take(log)
    assert len(first) == 500
    assert [event and event.execution for event in second] == [named(f"e{n}") for n in (500, 501, 502)]


async def test_what_is_not_committed_is_read_again(log_world: LogWorld) -> None:
    log = log_world.log
    await log.append([submitted("a"), submitted("b")], durable=False)
    records = await log.read()
    await log.commit(records[:1], Changes())
    assert [record.event for record in await log.read()] == [submitted("b")]


async def test_a_cancelled_read_takes_nothing(log_world: LogWorld) -> None:
    log = log_world.log
    with anyio.CancelScope() as scope:
        scope.cancel()
        await log.read()
    await log.append([submitted("a")], durable=False)
    assert await take(log) == [submitted("a")]
