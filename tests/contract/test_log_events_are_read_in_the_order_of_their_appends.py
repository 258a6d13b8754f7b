from __future__ import annotations

from functools import partial

import anyio

from engine.ports.eventlog import Changes
from tests.contract.log_adapters import LogWorld
from tests.contract.log_nouns import named, read, submitted, succeeded, take


async def test_durable_and_other_appends_share_one_order(log_world: LogWorld) -> None:
    log = log_world.log
    await log.append([submitted("a"), submitted("b")], durable=True)
    await log.append([succeeded("a")], durable=False)
    await log.append([submitted("c")], durable=True)
    assert await take(log, count=4) == [submitted("a"), submitted("b"), succeeded("a"), submitted("c")]


async def test_concurrent_appends_keep_the_order_of_their_calls(log_world: LogWorld) -> None:
    log = log_world.log
    async with anyio.create_task_group() as group:
        for number in range(20):
            append = partial(log.append, [submitted(f"e{number}")], durable=number % 3 != 0)
            group.start_soon(append)
    assert [event and event.execution for event in await take(log, count=20)] == [named(f"e{n}") for n in range(20)]


async def test_offsets_rise(log_world: LogWorld) -> None:
    log = log_world.log
    await log.append([submitted("a"), submitted("b")], durable=False)
    await log.append([submitted("c")], durable=True)
    offsets = [record.offset for record in await read(log, 3)]
    assert offsets == sorted(set(offsets))
    assert len(offsets) == 3


async def test_a_record_holds_the_bytes_of_its_event(keeping_world: LogWorld) -> None:
    await keeping_world.log.append([submitted("a")], durable=False)
    (record,) = await keeping_world.log.read()
    await keeping_world.log.commit([record], Changes())
    (stored,) = await keeping_world.stored()
    assert (stored.offset, stored.raw, stored.event) == (record.offset, record.raw, record.event)
    assert stored.event == submitted("a")
