from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.adapters.sqlite.log import SqliteLog
from engine.model.errors import BadInput
from engine.ports.eventlog import Changes, DeadLetter
from tests.contract.log_adapters import SqliteWorld
from tests.contract.log_nouns import execution, fact, named, node, submitted


async def test_what_is_committed_is_seen_at_once(sqlite_world: SqliteWorld) -> None:
    async with SqliteLog.open_readonly(sqlite_world.home) as reader:
        assert await reader.executions() == []
        changes = Changes(
            executions=[execution("a")],
            nodes=[(named("a"), node("n0"))],
            facts=[fact("a", 1)],
            dead_letters=[DeadLetter(1, b"", "odd")],
        )
        await sqlite_world.log.commit((), changes)
        snapshot = await reader.snapshot(named("a"))
        assert snapshot is not None
        assert (snapshot.execution, snapshot.nodes) == (execution("a"), (node("n0"),))
        assert await reader.executions() == [execution("a")]
        assert await reader.find([named("a")]) == {named("a"): execution("a")}
        assert await reader.history(named("a")) == [fact("a", 1)]
        assert await reader.dead_letters() == [DeadLetter(1, b"", "odd")]


async def test_it_neither_takes_nor_needs_the_home(sqlite_world: SqliteWorld) -> None:
    async with SqliteLog.open_readonly(sqlite_world.home):
        await sqlite_world.crash()
        async with SqliteLog.open_readonly(sqlite_world.home):
            await sqlite_world.log.append([submitted("a")], durable=True)


async def test_an_engine_can_start_while_somebody_looks(tmp_path: Path) -> None:
    async with SqliteLog.open(tmp_path) as log:
        await log.append([submitted("a")], durable=True)
    async with SqliteLog.open_readonly(tmp_path) as reader, SqliteLog.open(tmp_path) as log:
        await log.append([submitted("b")], durable=True)
        assert [record.event for record in await reader.events()] == [submitted("a"), submitted("b")]


async def test_a_look_changes_nothing_in_the_database(tmp_path: Path) -> None:
    async with SqliteLog.open(tmp_path) as log:
        await log.append([submitted("a")], durable=True)
    before = (tmp_path / "log.db").read_bytes()
    async with SqliteLog.open_readonly(tmp_path) as reader:
        await reader.executions()
    assert (tmp_path / "log.db").read_bytes() == before


async def test_a_home_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=rf"there is no home at {tmp_path}/home: expected the log file"):
        async with SqliteLog.open_readonly(tmp_path / "home"):
            pass
    assert os.listdir(tmp_path) == []
