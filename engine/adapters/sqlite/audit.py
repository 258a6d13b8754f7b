"""All that a log holds, as of one moment, a page at a time: what a check reads."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from engine.adapters.sqlite.home import LOG_FILE
from engine.adapters.sqlite.log import CLOSE_SECONDS
from engine.adapters.sqlite.reader import SqliteReader
from engine.adapters.sqlite.rows import key_of
from engine.adapters.sqlite.schema import connect_reader
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact, Snapshot
from engine.ports.eventlog import DeadLetter
from engine.wire import codec

PAGE = 1000
"""Rows read at once."""
_STRAYS = 100
"""Of each table; more of them say nothing new."""


class SqliteAudit(SqliteReader):
    """Every answer is of the moment when it was opened, also while an engine goes on writing.

    The write-ahead log can't shrink meanwhile; nobody waits for anybody.
    """

    @classmethod
    @asynccontextmanager
    async def open(cls, home: Path) -> AsyncIterator[SqliteAudit]:
        """Raises HomeTooNew, BadInput, LogFailed."""
        path = home / LOG_FILE
        audit = cls(await anyio.to_thread.run_sync(connect_reader, path), path)
        try:
            await audit._run(audit._begin)
            yield audit
        finally:
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await audit.close()

    async def marks(self) -> tuple[int, int]:
        """The cursor (offset of the last processed event), and the offset of the last stored event; 0 = none."""
        return await self._run(self._marks)

    async def damage(self) -> Sequence[str]:
        """What SQLite itself finds wrong with the file."""
        rows = await self._run(lambda: self._connection.execute("PRAGMA quick_check").fetchall())
        return [text for (text,) in rows if text != "ok"]

    async def strays(self) -> Sequence[tuple[str, str]]:
        """(table, execution) of rows that belong to an execution that is not there."""
        return await self._run(self._find_strays)

    async def snapshots(self) -> AsyncIterator[Snapshot]:
        """Every execution, finished or not, oldest submission first."""
        number = 0
        while page := await self._run(partial(self._page, number)):
            for number, record in page:  # noqa: B007 - the last one is where the next page starts
                found = await self.snapshot(record.id)
                if found is not None:
                    yield found

    async def facts(self, execution: ExecutionId) -> AsyncIterator[Sequence[Fact]]:
        """The whole history of an execution, PAGE facts at a time."""
        after = 0
        while page := await self._run(partial(self._facts, key_of(execution), after)):
            yield page
            after = page[-1].sequence

    async def letters(self) -> AsyncIterator[DeadLetter]:
        number = 0
        while page := await self._run(partial(self._letters, number)):
            for number, letter in page:  # noqa: B007 - the last one is where the next page starts
                yield letter

    def _begin(self) -> None:
        self._connection.execute("BEGIN")
        # The moment is that of the first read.
        self._connection.execute("SELECT count(*) FROM meta").fetchone()

    @contextmanager
    def _moment(self) -> Iterator[sqlite3.Connection]:
        yield self._connection

    def _marks(self) -> tuple[int, int]:
        (cursor,) = self._connection.execute("SELECT value FROM meta WHERE name = 'cursor'").fetchone()
        (last,) = self._connection.execute('SELECT max("offset") FROM events').fetchone()
        return cursor, last or 0

    def _page(self, after: int) -> list[tuple[int, Execution]]:
        rows = self._connection.execute(
            "SELECT number, payload FROM executions WHERE number > ? ORDER BY number LIMIT ?", (after, PAGE)
        )
        return [(number, self._state(codec.unpack_execution, payload)) for number, payload in rows]

    def _facts(self, key: str, after: int) -> list[Fact]:
        rows = self._connection.execute(
            "SELECT payload FROM history WHERE execution = ? AND sequence > ? ORDER BY sequence LIMIT ?",
            (key, after, PAGE),
        )
        return [self._state(codec.unpack_fact, payload) for (payload,) in rows]

    def _letters(self, after: int) -> list[tuple[int, DeadLetter]]:
        rows = self._connection.execute(
            "SELECT number, payload FROM dead_letters WHERE number > ? ORDER BY number LIMIT ?", (after, PAGE)
        )
        return [(number, self._state(codec.unpack_dead_letter, payload)) for number, payload in rows]

    def _find_strays(self) -> list[tuple[str, str]]:
        found = []
        for table in ("nodes", "history"):
            rows = self._connection.execute(
                f"SELECT DISTINCT execution FROM {table} WHERE execution NOT IN (SELECT key FROM executions) LIMIT ?",
                (_STRAYS,),
            )
            found += [(table, key) for (key,) in rows]
        return found
