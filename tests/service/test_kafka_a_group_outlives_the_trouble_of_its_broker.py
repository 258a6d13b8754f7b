"""The broker dies and comes back, hangs, refuses every write, is far away or out of reach again and again: the group
waits, then goes on, and no node fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from tests.backing import kafka
from tests.backing.distance import Way, way_to
from tests.backing.refusing import refusing
from tests.backing.server import Server
from tests.service.fleet_driver import DEADLINE_SECONDS
from tests.service.fleets import Fleets

pytestmark = [pytest.mark.service("kafka"), pytest.mark.timeout(300)]
PARTITIONS = 4


@asynccontextmanager
async def at_work(fleets: Fleets, **more: float) -> AsyncIterator[None]:
    """The trouble is in the block: two processes work, and are given more, before, through and after it.

    more: of their orders.
    """
    for name in ("a", "b"):
        await fleets.start(name, task_seconds=0.05, **more)
    for name in ("a", "b"):
        await fleets.members[name].until_it_owns(PARTITIONS // 2)
    ids = await fleets.submit(range(100))
    await fleets.until_ended(20)
    async with anyio.create_task_group() as tasks:

        async def ask_for_more() -> None:
            ids.extend(await fleets.submit(range(100, 200)))

        tasks.start_soon(ask_for_more)
        yield
    await fleets.until_ended(200)
    for name in ("a", "b"):
        assert await fleets.stop(name) == 0
    assert (await fleets.evidence()).problems(ids) == []


@pytest.mark.parametrize("how", ["restart", "hang"])
async def test_a_broker_that_was_away(tmp_path: Path, how: str) -> None:
    broker, address = await to_thread.run_sync(kafka.start)
    try:
        async with Fleets.open(tmp_path, partitions=PARTITIONS, bootstrap=address) as fleets, at_work(fleets):
            if how == "restart":
                await to_thread.run_sync(broker.kill)
                await to_thread.run_sync(kafka.run, broker, address)
            else:
                await _hang(broker)
    finally:
        await to_thread.run_sync(broker.stop)


async def test_a_process_that_is_told_to_stop_ends_in_time_though_the_broker_hangs(tmp_path: Path) -> None:
    broker, address = await to_thread.run_sync(kafka.start)
    try:
        async with Fleets.open(tmp_path, partitions=PARTITIONS, bootstrap=address) as fleets:
            await (await fleets.start("a", task_seconds=0.05)).until_it_owns(PARTITIONS)
            await fleets.submit(range(100))
            await fleets.until_ended(20)
            broker.pause()
            with anyio.fail_after(DEADLINE_SECONDS + 5):
                assert await fleets.stop("a") in (0, 143)
            broker.go_on()
    finally:
        await to_thread.run_sync(broker.stop)


async def _hang(broker: Server) -> None:
    """For longer than the sessions."""
    broker.pause()
    await anyio.sleep(8)
    broker.go_on()


@asynccontextmanager
async def far_away(folder: Path, one_way_seconds: float) -> AsyncIterator[tuple[Fleets, Way]]:
    """Fleets that reach their broker by a way of which a test may dispose."""
    broker, address, port = await to_thread.run_sync(kafka.start_far)
    try:
        async with (
            way_to(address, port=port, one_way_seconds=one_way_seconds) as way,
            Fleets.open(folder, partitions=PARTITIONS, bootstrap=way.address) as fleets,
        ):
            yield fleets, way
    finally:
        await to_thread.run_sync(broker.stop)


async def test_a_broker_that_is_200_ms_away(tmp_path: Path) -> None:
    async with far_away(tmp_path, 0.1) as (fleets, _), at_work(fleets):
        pass


async def test_connections_that_are_cut_again_and_again(tmp_path: Path) -> None:
    async with far_away(tmp_path, 0.0) as (fleets, way), at_work(fleets):
        for _ in range(8):
            way.cut()
            await anyio.sleep(0.7)
        assert way.cuts > 8


async def test_a_broker_that_refuses_every_write(tmp_path: Path) -> None:
    """For longer than a partition may stand still: it does not, as long as it tries."""
    broker, address, port = await to_thread.run_sync(kafka.start_far)
    patience = {"commit_seconds": 5.0, "watchdog_seconds": 15.0}
    try:
        async with (
            refusing(address, port=port) as way,
            Fleets.open(tmp_path, partitions=PARTITIONS, bootstrap=way.address) as fleets,
            at_work(fleets, **patience),
        ):
            way.refuses = True
            await anyio.sleep(30)
            way.refuses = False
        assert way.refused > 10 * PARTITIONS
    finally:
        await to_thread.run_sync(broker.stop)
