from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.adapters.sqlite.log import SqliteLog
from engine.model.errors import BadInput, HomeTooNew, LogFailed
from tests.contract.log_nouns import submitted


async def make(home: Path, events: int = 1) -> Path:
    async with SqliteLog.open(home) as log:
        await log.append([submitted(f"e{n}") for n in range(events)], durable=True)
    return home / "log.db"


def execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


async def test_a_newer_schema_is_refused_naming_both_versions(tmp_path: Path) -> None:
    path = await make(tmp_path)
    execute(path, "UPDATE meta SET value = 3 WHERE name = 'schema'")
    before = path.read_bytes()
    for look in (SqliteLog.open, SqliteLog.open_readonly):
        with pytest.raises(HomeTooNew, match=r"log\.db has schema version 3, this engine knows versions up to 2; "):
            async with look(tmp_path):
                pass
    assert path.read_bytes() == before


async def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    path.write_text("notes to self " * 100)
    for look in (SqliteLog.open, SqliteLog.open_readonly):
        with pytest.raises(BadInput, match=r"log\.db is no SQLite database; "):
            async with look(tmp_path):
                pass
    assert path.read_text() == "notes to self " * 100


async def test_another_programs_database_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    execute(path, "CREATE TABLE events (day TEXT)")
    before = path.read_bytes()
    for look in (SqliteLog.open, SqliteLog.open_readonly):
        with pytest.raises(BadInput, match=r"log\.db is no log of this engine: it has no table 'meta'; "):
            async with look(tmp_path):
                pass
    assert path.read_bytes() == before


async def test_a_damaged_database_is_named_with_the_cause(tmp_path: Path) -> None:
    path = await make(tmp_path, events=2000)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(LogFailed, match=r"the log .*log\.db can't be opened: .*malformed.*SQLITE_CORRUPT"):
        async with SqliteLog.open(tmp_path):
            pass


async def test_damage_that_shows_later_is_named_too(tmp_path: Path) -> None:
    path = await make(tmp_path)
    execute(path, "INSERT INTO executions (key, terminal, payload) VALUES ('p:d:x', 0, X'80')")
    async with SqliteLog.open(tmp_path) as log:
        with pytest.raises(LogFailed, match=r"log\.db is damaged or was written by a newer Propwash: an execution "):
            _ = [snapshot async for snapshot in log.restore()]


async def test_an_event_that_cannot_be_read_is_a_record_with_the_reason(tmp_path: Path) -> None:
    path = await make(tmp_path, events=2)
    execute(path, "UPDATE events SET payload = X'C1' WHERE \"offset\" = 1")
    async with SqliteLog.open(tmp_path) as log:
        bad, good = await log.read()
    assert (bad.event, bad.raw) == (None, b"\xc1")
    assert bad.problem == "an event can't be read: 1 bytes are no msgpack map (FormatError)"
    assert good.event == submitted("e1")


async def test_a_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(BadInput, match=rf"home {tmp_path}/home can't be used: File exists"):
        async with SqliteLog.open(tmp_path / "home"):
            pass


async def test_a_file_that_a_crash_left_empty_becomes_a_log(tmp_path: Path) -> None:
    (tmp_path / "log.db").touch()
    await make(tmp_path)
