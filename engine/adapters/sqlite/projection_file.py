"""The file of a projection: the tables of a log that are read, and how far the shared log has been read."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

from engine.adapters.sqlite.schema import BUSY_SECONDS, TABLES, describe
from engine.model.errors import LogFailed

VERSION = "1"
"""Of these tables; a file of another version is made anew."""
STALE_SECONDS = 12 * 3600.0
"""A file that was not written for so long is made anew: compaction may have swallowed what was deleted meanwhile."""
_OWN_TABLES = (
    "CREATE TABLE seen (execution TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID",
    "CREATE INDEX seen_long_ago ON seen (at)",
    "CREATE TABLE positions (source TEXT PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE about (version TEXT NOT NULL, source TEXT NOT NULL, written_at REAL NOT NULL)",
)
"""`seen`: when something was heard last of an execution."""
_OF_A_LOG = ("executions", "nodes", "history")

log = logging.getLogger(__name__)


def connect(path: Path, source: str, now: float) -> tuple[sqlite3.Connection, sqlite3.Connection]:
    """Blocking. A connection to write, and one to read. Raises LogFailed."""
    try:
        if (reason := _unusable(path, source, now)) is not None:
            if reason:
                log.warning("projection is made anew", extra={"path": str(path), "cause": reason})
            for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
                path.with_name(name).unlink(missing_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
        writer = _open(path)
        if reason is not None:
            _make(writer, source, now)
        reader = _open(path)
        reader.execute("PRAGMA query_only = ON")
    except (sqlite3.Error, OSError) as error:
        raise LogFailed(f"the projection {path} can't be opened: {describe(error)}") from error
    return writer, reader


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    # It can be made anew, so no commit waits for the disk.
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def _unusable(path: Path, source: str, now: float) -> str | None:
    """Why the file can't be gone on with; "": there is none; None: it can."""
    if not path.exists():
        return ""
    connection = sqlite3.connect(path, BUSY_SECONDS, isolation_level=None)
    try:
        version, made_of, written_at = connection.execute("SELECT version, source, written_at FROM about").fetchone()
        damage: str = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except (sqlite3.Error, TypeError) as error:
        return f"it can't be read: {error}"
    finally:
        connection.close()
    if damage != "ok":
        return damage
    if (version, made_of) != (VERSION, source):
        return f"it is of version {version} and {made_of}, not of {VERSION} and {source}"
    return f"it was not written for {now - written_at:.0f} seconds" if now - written_at > STALE_SECONDS else None


def _make(connection: sqlite3.Connection, source: str, now: float) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for statement in TABLES:
        if any(f" {name} (" in statement for name in _OF_A_LOG):
            connection.execute(statement)
    for statement in _OWN_TABLES:
        connection.execute(statement)
    connection.execute("INSERT INTO about VALUES (?, ?, ?)", (VERSION, source, now))
    connection.execute("COMMIT")
