from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.adapters.sqlite.listing import COLUMNS
from engine.adapters.sqlite.log import SqliteLog
from engine.model.errors import BadInput, LogFailed
from engine.model.phases import ExecutionPhase
from engine.ports.eventlog import Changes, Selection
from tests.contract.log_nouns import execution


async def as_version_1(home: Path) -> Path:
    """A home with two executions, as the first version made it."""
    async with SqliteLog.open(home) as log:
        await log.commit((), Changes(executions=[execution("a"), execution("b", ExecutionPhase.FAILED)]))
    path = home / "log.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP INDEX listed_executions")
        for name in COLUMNS:
            connection.execute(f"ALTER TABLE executions DROP COLUMN {name}")
        connection.execute("UPDATE meta SET value = 1 WHERE name = 'schema'")
    return path


async def test_an_engine_brings_a_home_up_to_date(tmp_path: Path) -> None:
    await as_version_1(tmp_path)
    for _ in range(2):
        async with SqliteLog.open(tmp_path) as log:
            assert await log.executions() == [execution("a"), execution("b", ExecutionPhase.FAILED)]
            assert await log.select(Selection(phases=("FAILED",), workflow="wf")) == [
                execution("b", ExecutionPhase.FAILED)
            ]


async def test_a_look_at_an_old_home_says_what_to_do(tmp_path: Path) -> None:
    path = await as_version_1(tmp_path)
    before = path.read_bytes()
    with pytest.raises(BadInput, match=r"log\.db has schema version 1 of an older Propwash; .*`propwash resume`"):
        async with SqliteLog.open_readonly(tmp_path):
            pass
    assert path.read_bytes() == before


async def test_a_home_that_cannot_be_brought_up_to_date_stays_as_it_is(tmp_path: Path) -> None:
    path = await as_version_1(tmp_path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE executions SET payload = X'80' WHERE number = 2")
    for _ in range(2):
        with pytest.raises(LogFailed, match=r"log\.db can't be brought up to date: an execution can't be read"):
            async with SqliteLog.open(tmp_path):
                pass
