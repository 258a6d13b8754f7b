"""The embedded event log: what waits to be processed in memory, everything else on disk.

An event is handed to the reader as soon as it is appended. Its row is queued for the writer before the commit that
consumes it (durable) or with that commit (not durable), so no state on disk ever knows more than the events on disk,
and the wait for the disk of a submission and that of its first turn are often one.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager, closing
from pathlib import Path

import anyio
import anyio.to_thread

from engine.adapters.sqlite.home import LOG_FILE, HomeLock
from engine.adapters.sqlite.inbox import Inbox
from engine.adapters.sqlite.reader import SqliteReader
from engine.adapters.sqlite.rows import change_rows, event_rows
from engine.adapters.sqlite.schema import Synchronous, connect_reader, connect_writer
from engine.adapters.sqlite.writer import Write, Writer
from engine.model.errors import BadInput, Defect, EngineError, LogFailed
from engine.model.events import Event
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact, Snapshot
from engine.ports.eventlog import Changes, DeadLetter, Record, Selection
from engine.wire import codec

CLOSE_SECONDS = 10.0
"""The longest that leaving the log waits for what is still to be written."""

logger = logging.getLogger(__name__)


class SqliteLog:
    """Use `open` or `open_readonly`."""

    def __init__(self, path: Path, lock: HomeLock, writer: sqlite3.Connection, reader: sqlite3.Connection) -> None:
        self._path = path
        self._writer, self._reader = Writer(writer, path, lock, self._settle), SqliteReader(reader, path)
        self._inbox = Inbox()
        self._committing = 0
        self._failure: EngineError | None = None

    @classmethod
    @asynccontextmanager
    async def open(cls, home: Path, *, synchronous: Synchronous = Synchronous.FULL) -> AsyncIterator[SqliteLog]:
        """The log of a home, made if it is not there; nobody else can write to it until the block is left.

        Leaving the block writes what is queued. If the disk hangs, that is left to the writer's thread after
        CLOSE_SECONDS; the home stays locked until it ends. Raises HomeInUse, HomeTooNew, BadInput, LogFailed.
        """
        log = cls(home / LOG_FILE, *await anyio.to_thread.run_sync(_take, home, synchronous))
        try:
            log._inbox.start_at(*await log._reader.position())
            yield log
        finally:
            with anyio.CancelScope(shield=True):
                await log._close()

    @staticmethod
    @asynccontextmanager
    async def open_readonly(home: Path) -> AsyncIterator[SqliteReader]:
        """The log of a home, for a look while an engine may be running. Raises HomeTooNew, BadInput, LogFailed."""
        path = home / LOG_FILE
        reader = SqliteReader(await anyio.to_thread.run_sync(connect_reader, path), path)
        try:
            yield reader
        finally:
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await reader.close()

    @property
    def shared(self) -> bool:
        """The home's lock is held until the last write is done."""
        return False

    @property
    def behind(self) -> bool:
        return self._inbox.backlog

    @property
    def transactions(self) -> int:
        """Transactions committed since the log was opened."""
        return self._writer.transactions

    async def append(self, events: Sequence[Event], *, durable: bool) -> None:
        self._check()
        records = self._inbox.number(events)
        if durable and records:
            await self._write(Write(event_rows(records), commit=False), records)
        else:
            self._inbox.put(records, written=False)

    async def replay(self, number: str) -> None:
        """Append the event of a dead letter again, and note that; returns when both are on disk.

        Raises BadInput where there is no such letter, or its bytes are no event of this version. One that was replayed
        is not appended again.
        """
        self._check()
        found = {letter.id: letter for letter in await self._reader.numbered_letters()}.get(number)
        if found is None:
            raise BadInput(f"there is no dead letter {number}; nothing was appended")
        record = codec.unpack_record(0, found.letter.raw, found.letter.headers)
        if not isinstance(record.event, Event):
            raise BadInput(f"dead letter {number} can't be read by this version either: {record.problem}")
        if not found.replayed:
            records = self._inbox.number([record.event])
            rows = event_rows(records)
            rows.replayed.append(int(number))
            await self._write(Write(rows, commit=False), records)

    async def read(self) -> Sequence[Record]:
        while True:
            self._check()
            if not self._committing:
                if self._inbox.backlog:
                    return await self._reader.events(self._inbox.cursor, self._inbox.backlog_end)
                if records := self._inbox.head():
                    return records
            await self._inbox.changed()

    async def commit(self, records: Sequence[Record], changes: Changes) -> None:
        self._check()
        if records and records[0].offset <= self._inbox.cursor:
            raise Defect(f"event {records[0].offset} of {self._path} can't be committed: it has been already")
        rows = change_rows(changes)
        follow_ups = self._inbox.number(changes.events)
        rows.extend(event_rows([*self._inbox.unwritten(records), *follow_ups]))
        if records:
            rows.cursor = records[-1].offset
        self._committing += 1
        await self._write(Write(rows, commit=True), follow_ups)

    def restore(self) -> AsyncIterator[Snapshot]:
        return self._reader.restore()

    async def find(self, ids: Sequence[ExecutionId]) -> dict[ExecutionId, Execution]:
        return await self._reader.find(ids)

    async def snapshot(self, execution: ExecutionId) -> Snapshot | None:
        return await self._reader.snapshot(execution)

    async def executions(self) -> Sequence[Execution]:
        return await self._reader.executions()

    async def select(self, wanted: Selection) -> Sequence[Execution]:
        return await self._reader.select(wanted)

    async def history(self, execution: ExecutionId, after: int = 0, limit: int | None = None) -> Sequence[Fact]:
        return await self._reader.history(execution, after, limit)

    async def dead_letters(self) -> Sequence[DeadLetter]:
        return await self._reader.dead_letters()

    async def events(self, after: int = 0) -> Sequence[Record]:
        """The next BATCH_RECORDS stored events with an offset above `after`, processed or not: what a replay reads."""
        return await self._reader.events(after)

    async def _close(self) -> None:
        self._failure = self._failure or LogFailed(f"the log {self._path} is closed")
        self._inbox.wake()
        with anyio.move_on_after(CLOSE_SECONDS):
            await self._reader.close()
        if not await self._writer.stop(CLOSE_SECONDS):
            logger.error("log could not be closed in time", extra={"path": str(self._path), "seconds": CLOSE_SECONDS})

    def _check(self) -> None:
        if self._failure is not None:
            raise type(self._failure)(*self._failure.args) from self._failure

    async def _write(self, write: Write, records: Sequence[Record]) -> None:
        """Queue a write, let its events be read, and wait for the disk."""
        self._writer.submit(write)
        self._inbox.put(records, written=True)
        await write.done.wait()
        if write.failure is not None:
            self._check()

    def _settle(self, writes: Sequence[Write]) -> None:
        """A group is on disk, or failed. Runs on the event loop, whether or not its callers still wait."""
        for write in writes:
            if write.commit:
                self._committing -= 1
            if write.failure is not None:
                self._failure = write.failure
            elif write.commit and write.rows.cursor is not None:
                self._inbox.advance(write.rows.cursor)
            write.done.set()
        self._inbox.wake()


def _take(home: Path, synchronous: Synchronous) -> tuple[HomeLock, sqlite3.Connection, sqlite3.Connection]:
    """Lock the home, then open its log to write and to read; on an error nothing stays open."""
    with ExitStack() as undo:
        lock = HomeLock(home)
        undo.callback(lock.release)
        writer = undo.enter_context(closing(connect_writer(home / LOG_FILE, synchronous)))
        reader = connect_reader(home / LOG_FILE)
        undo.pop_all()
    return lock, writer, reader
