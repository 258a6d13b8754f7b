"""The database file: its tables, its connections, and what its errors mean to the engine."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path

from engine.adapters.sqlite import listing
from engine.adapters.sqlite.upgrade import STEPS, upgrade
from engine.model.errors import BadInput, EngineError, HomeTooNew, LogFailed, NoHome
from engine.wire.codec import Unreadable

SCHEMA_VERSION = 2
BUSY_SECONDS = 5.0
"""How long a connection waits for another one's lock; recovery after a crash holds one briefly."""

TABLES = (
    'CREATE TABLE events ("offset" INTEGER PRIMARY KEY, payload BLOB NOT NULL)',
    # `number` keeps the order of submission through later updates of the row.
    "CREATE TABLE executions (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, terminal INTEGER NOT NULL,"
    f" payload BLOB NOT NULL, {', '.join(f'{name} {kind}' for name, kind in listing.COLUMNS.items())})",
    "CREATE INDEX unfinished_executions ON executions (number) WHERE terminal = 0",
    listing.INDEX,
    "CREATE TABLE nodes (execution TEXT, path TEXT, payload BLOB NOT NULL, PRIMARY KEY (execution, path))"
    " WITHOUT ROWID",
    "CREATE TABLE history (execution TEXT, sequence INTEGER, payload BLOB NOT NULL, PRIMARY KEY (execution, sequence))"
    " WITHOUT ROWID",
    "CREATE TABLE dead_letters (number INTEGER PRIMARY KEY, payload BLOB NOT NULL)",
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    f"INSERT INTO meta VALUES ('schema', {SCHEMA_VERSION}), ('cursor', 0)",
)


class Synchronous(StrEnum):
    """What a commit waits for: SQLite's own names, WAL mode."""

    FULL = "full"
    """The disk has it: survives a power cut."""
    NORMAL = "normal"
    """The operating system has it: survives a crash of the engine, may lose the last commits in a power cut."""


def connect_writer(path: Path, synchronous: Synchronous) -> sqlite3.Connection:
    """Open or create the database. Raises BadInput, HomeTooNew, LogFailed, each naming the path."""

    def prepare(connection: sqlite3.Connection) -> None:
        fresh = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        old = None if fresh else _version(connection, path)
        if not fresh and old not in STEPS:
            _check_version(connection, path)
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise BadInput(f"{path} can't use a write-ahead log (journal mode {mode!r}); use a home on a local disk")
        connection.execute(f"PRAGMA synchronous = {synchronous.value}")
        if fresh:
            connection.execute("BEGIN IMMEDIATE")
            for statement in TABLES:
                connection.execute(statement)
            connection.execute("COMMIT")
        elif old is not None and old in STEPS:
            _upgrade(connection, path, old)

    return _connect(str(path), path, prepare)


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open an existing database without ever writing to it. Raises BadInput, HomeTooNew, LogFailed."""
    if not path.is_file():
        raise NoHome(f"there is no home at {path.parent}: expected the log file {path}")
    address = f"{path.absolute().as_uri()}?mode=ro"
    check = partial(_check_version, path=path)
    try:
        return _connect(address, path, check)
    except LogFailed:
        # Where this process can't write, SQLite can't make the files that readers of a write-ahead log share. It needs
        # none where no such log is left: then no engine is at work either.
        if os.access(path.parent, os.W_OK) or _has_bytes(path.with_name(f"{path.name}-wal")):
            raise
        return _connect(f"{address}&immutable=1", path, check)


def _has_bytes(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _connect(address: str, path: Path, prepare: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            address, BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=address.startswith("file:")
        )
        try:
            prepare(connection)
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise _open_error(error, path) from error
    return connection


def _upgrade(connection: sqlite3.Connection, path: Path, version: int) -> None:
    try:
        upgrade(connection, version)
    except Unreadable as error:
        raise LogFailed(f"the log {path} can't be brought up to date: {error}; nothing was changed") from error


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    version = _version(connection, path)
    if version in STEPS:
        raise BadInput(
            f"{path} has schema version {version} of an older Propwash; the next engine that works on this home "
            "(`propwash resume`) brings it up to date; nothing was changed"
        )
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise HomeTooNew(
            f"{path} has schema version {version}, this engine knows versions up to {SCHEMA_VERSION}; use the newer "
            "Propwash that wrote it, or another home; nothing was changed"
        )
    if version != SCHEMA_VERSION:
        raise BadInput(f"{path} has schema version {version!r}, expected {SCHEMA_VERSION}; nothing was changed")


def _version(connection: sqlite3.Connection, path: Path) -> int | None:
    """Raises BadInput for a file that is no log."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        raise BadInput(
            f"there is no home at {path.parent} yet: its first engine ended while it made the log {path}, before it "
            "accepted anything; the next `propwash run` makes it"
        )
    if "meta" not in tables:
        raise BadInput(f"{path} is no log of this engine: it has no table 'meta'; nothing was changed")
    row = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
    return row[0] if row else None


def _open_error(error: sqlite3.Error, path: Path) -> EngineError:
    if error.sqlite_errorname == "SQLITE_NOTADB":
        return BadInput(f"{path} is no SQLite database; move it away or use another home; nothing was changed")
    return LogFailed(f"the log {path} can't be opened: {describe(error)}")


def describe(error: Exception) -> str:
    """SQLite's message and the name of its error code."""
    name = getattr(error, "sqlite_errorname", None) or type(error).__name__
    return f"{error} ({name})"
