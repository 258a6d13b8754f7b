from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from anyio.lowlevel import checkpoint

from engine.adapters.sqlite import log as sqlite_log
from engine.adapters.sqlite.log import SqliteLog
from engine.model.errors import HomeInUse, LogFailed
from engine.ports.eventlog import Changes
from tests.contract.log_adapters import SqliteWorld, nobody_can_write
from tests.contract.log_nouns import submitted


async def test_a_request_that_nobody_waits_for_any_more_is_written_all_the_same(tmp_path: Path) -> None:
    async with SqliteLog.open(tmp_path) as log, anyio.create_task_group() as group:
        with nobody_can_write(tmp_path / "log.db"):
            group.start_soon(partial(log.append, [submitted("a")], durable=True))
            await checkpoint()
            group.cancel_scope.cancel()
    async with SqliteLog.open(tmp_path) as log:
        assert [record.event for record in await log.read()] == [submitted("a")]


async def test_a_commit_that_was_cancelled_on_its_way_counts(sqlite_world: SqliteWorld) -> None:
    log = sqlite_world.log
    await log.append([submitted("a"), submitted("b")], durable=False)
    records = await log.read()
    with nobody_can_write(sqlite_world.path):
        async with anyio.create_task_group() as group:
            group.start_soon(log.commit, records[:1], Changes())
            await checkpoint()
            group.cancel_scope.cancel()
    assert [record.event for record in await log.read()] == [submitted("b")]


async def test_a_disk_that_hangs_is_left_in_time_and_keeps_the_home_until_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_log, "CLOSE_SECONDS", 0.01)
    with ExitStack() as disk:
        async with SqliteLog.open(tmp_path) as log, anyio.create_task_group() as group:
            disk.enter_context(nobody_can_write(tmp_path / "log.db"))
            group.start_soon(partial(log.append, [submitted("a")], durable=True))
            await checkpoint()
            group.cancel_scope.cancel()
        with pytest.raises(HomeInUse):
            async with SqliteLog.open(tmp_path):
                pass
    await anyio.to_thread.run_sync(log._writer._thread.join)
    async with SqliteLog.open(tmp_path) as log:
        assert [record.event for record in await log.read()] == [submitted("a")]


async def test_a_log_that_was_left_takes_nothing_more(tmp_path: Path) -> None:
    async with SqliteLog.open(tmp_path) as log:
        pass
    with pytest.raises(LogFailed, match=r"log\.db is closed"):
        await log.append([submitted("a")], durable=True)
    with pytest.raises(LogFailed, match=r"log\.db is closed"):
        await log.read()
