"""The reading half: a read-only connection of its own, used by one thread at a time, never in the event loop.

Each answer is of one moment, and of committed state only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_thread

from engine.adapters.sqlite import listing, naming
from engine.adapters.sqlite.rows import REPLAYED, key_of
from engine.adapters.sqlite.schema import describe
from engine.model.errors import LogFailed
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact, Node, Snapshot
from engine.ports.eventlog import BATCH_RECORDS, Alike, DeadLetter, Record, Selection
from engine.ports.letters import Letter
from engine.wire import codec

RESTORE_EXECUTIONS = 100
"""Executions read at once by `restore`: what bounds its memory."""

MAX_OFFSET = 2**63 - 1

_T = TypeVar("_T")


class _Asked:
    """Executions that several callers look for with one query."""

    def __init__(self) -> None:
        self.ids: list[ExecutionId] = []
        self.found: dict[ExecutionId, Execution] | None = None


class SqliteReader:
    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path
        self._one_at_a_time = anyio.CapacityLimiter(1)
        self._asked, self._finding = _Asked(), anyio.Lock()

    async def close(self) -> None:
        """Close the connection, after a query that is still running. Cancelling leaves that to the thread."""
        await anyio.to_thread.run_sync(self._connection.close, limiter=self._one_at_a_time, abandon_on_cancel=True)

    async def restore(self) -> AsyncIterator[Snapshot]:
        """Every unfinished execution with all its nodes, oldest submission first."""
        number = 0
        while page := await self._run(partial(self._unfinished, number)):
            for number, snapshot in page:  # noqa: B007 - the last one is where the next page starts
                yield snapshot

    async def find(self, ids: Sequence[ExecutionId]) -> dict[ExecutionId, Execution]:
        """Those who ask while a query is under way share the next one."""
        if not ids:
            return {}
        asked = self._asked
        asked.ids += ids
        async with self._finding:
            if asked.found is None:
                self._asked = _Asked()
                rows = await self._run(partial(self._find, [key_of(execution) for execution in asked.ids]))
                asked.found = {execution.id: execution for execution in rows}
        return {execution: asked.found[execution] for execution in ids if execution in asked.found}

    async def snapshot(self, execution: ExecutionId) -> Snapshot | None:
        return await self._run(partial(self._snapshot, key_of(execution)))

    async def executions(self) -> Sequence[Execution]:
        return await self._run(self._executions)

    async def namesakes(self, name: str) -> Sequence[Execution]:
        return await self._run(partial(self._namesakes, name))

    async def alike(self, name: str, most: int) -> Alike:
        return await self._run(partial(self._alike, name, most))

    async def select(self, wanted: Selection) -> Sequence[Execution]:
        return await self._run(partial(self._select, wanted))

    async def history(self, execution: ExecutionId, after: int = 0, limit: int | None = None) -> Sequence[Fact]:
        return await self._run(partial(self._history, key_of(execution), after, -1 if limit is None else limit))

    async def dead_letters(self) -> Sequence[DeadLetter]:
        return await self._run(self._dead_letters)

    async def numbered_letters(self) -> Sequence[Letter]:
        """Dead letters with their numbers, the oldest first."""
        return await self._run(self._numbered_letters)

    async def events(self, after: int = 0, until: int = MAX_OFFSET) -> Sequence[Record]:
        """The next BATCH_RECORDS stored events with `after` < offset <= `until`, processed or not."""
        return await self._run(partial(self._events, after, until))

    async def position(self) -> tuple[int, int]:
        """The cursor (offset of the last processed event), and the offset of the last stored event; 0 = none."""
        return await self._run(self._position)

    async def _run(self, work: Callable[[], _T]) -> _T:
        try:
            return await anyio.to_thread.run_sync(work, limiter=self._one_at_a_time)
        except sqlite3.Error as error:
            raise LogFailed(f"the log {self._path} can't be read: {describe(error)}") from error

    def _unfinished(self, after: int) -> list[tuple[int, Snapshot]]:
        """The next page of unfinished executions, each with its row number."""
        with self._moment() as connection:
            executions: list[tuple[int, bytes]] = connection.execute(
                "SELECT number, payload FROM executions WHERE terminal = 0 AND number > ? ORDER BY number LIMIT ?",
                (after, RESTORE_EXECUTIONS),
            ).fetchall()
            if not executions:
                return []
            rows = connection.execute(
                "SELECT e.number, n.payload FROM executions e JOIN nodes n ON n.execution = e.key"
                " WHERE e.terminal = 0 AND e.number BETWEEN ? AND ? ORDER BY e.number, n.path",
                (executions[0][0], executions[-1][0]),
            )
            nodes: dict[int, list[Node]] = {number: [] for number, _ in executions}
            for number, payload in rows:
                nodes[number].append(self._state(codec.unpack_node, payload))
        return [
            (number, Snapshot(self._state(codec.unpack_execution, payload), tuple(nodes[number])))
            for number, payload in executions
        ]

    def _find(self, keys: Sequence[str]) -> list[Execution]:
        rows = self._connection.execute(
            "SELECT payload FROM executions WHERE key IN (SELECT value FROM json_each(?))", (json.dumps(keys),)
        )
        return [self._state(codec.unpack_execution, payload) for (payload,) in rows]

    def _snapshot(self, key: str) -> Snapshot | None:
        with self._moment() as connection:
            row = connection.execute("SELECT payload FROM executions WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            rows = connection.execute("SELECT payload FROM nodes WHERE execution = ? ORDER BY path", (key,))
            nodes = tuple(self._state(codec.unpack_node, payload) for (payload,) in rows)
        return Snapshot(self._state(codec.unpack_execution, row[0]), nodes)

    def _executions(self) -> list[Execution]:
        rows = self._connection.execute("SELECT payload FROM executions ORDER BY number")
        return [self._state(codec.unpack_execution, payload) for (payload,) in rows]

    def _namesakes(self, name: str) -> list[Execution]:
        with self._moment() as connection:
            return self._find(naming.keys_of(connection, name))

    def _alike(self, name: str, most: int) -> Alike:
        with self._moment() as connection:
            newest, count = naming.newest(connection)
            return Alike(tuple(naming.begun_with(connection, name, most)), tuple(newest), count)

    def _select(self, wanted: Selection) -> list[Execution]:
        statement, values = listing.query(wanted, key_of(wanted.behind.id) if wanted.behind else "")
        return [
            self._state(codec.unpack_execution, payload) for (payload,) in self._connection.execute(statement, values)
        ]

    def _history(self, key: str, after: int, limit: int) -> list[Fact]:
        rows = self._connection.execute(
            "SELECT payload FROM history WHERE execution = ? AND sequence > ? ORDER BY sequence LIMIT ?",
            (key, after, limit),
        )
        return [self._state(codec.unpack_fact, payload) for (payload,) in rows]

    def _dead_letters(self) -> list[DeadLetter]:
        rows = self._connection.execute("SELECT payload FROM dead_letters ORDER BY number")
        return [self._state(codec.unpack_dead_letter, payload) for (payload,) in rows]

    def _numbered_letters(self) -> list[Letter]:
        with self._moment() as connection:
            marks = connection.execute("SELECT name FROM meta WHERE name LIKE ?", (f"{REPLAYED}%",))
            replayed = {name.removeprefix(REPLAYED) for (name,) in marks}
            rows = connection.execute("SELECT number, payload FROM dead_letters ORDER BY number").fetchall()
        found = [(str(number), self._state(codec.unpack_dead_letter, payload)) for number, payload in rows]
        return [Letter(number, letter, replayed=number in replayed) for number, letter in found]

    def _events(self, after: int, until: int) -> list[Record]:
        rows = self._connection.execute(
            'SELECT "offset", payload FROM events WHERE "offset" > ? AND "offset" <= ? ORDER BY "offset" LIMIT ?',
            (after, until, BATCH_RECORDS),
        )
        return [codec.unpack_record(offset, payload) for offset, payload in rows]

    def _position(self) -> tuple[int, int]:
        with self._moment() as connection:
            (cursor,) = connection.execute("SELECT value FROM meta WHERE name = 'cursor'").fetchone()
            (last,) = connection.execute('SELECT max("offset") FROM events').fetchone()
        return cursor, max(cursor, last or 0)

    def _state(self, unpack: Callable[[bytes], _T], payload: bytes) -> _T:
        try:
            return unpack(payload)
        except codec.Unreadable as error:
            raise LogFailed(f"the log {self._path} is damaged or was written by a newer Propwash: {error}") from error

    @contextmanager
    def _moment(self) -> Iterator[sqlite3.Connection]:
        """Several queries that see the same state."""
        self._connection.execute("BEGIN")
        try:
            yield self._connection
        finally:
            self._connection.execute("COMMIT")
