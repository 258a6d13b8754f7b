"""The writer: one thread, one connection, and one transaction for all requests that wait (group commit)."""

from __future__ import annotations

import asyncio
import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from engine.adapters.sqlite.home import HomeLock
from engine.adapters.sqlite.rows import Rows
from engine.adapters.sqlite.schema import describe
from engine.model.errors import Defect, EngineError, LogFailed

log = logging.getLogger(__name__)

LINGER_SECONDS = 0.001
"""So a submission and the turn that it gives rise to are mostly one transaction, with one wait for the disk."""


class Write:
    """One request. `done` is set, on the event loop, when its rows are on disk or its `failure` is known."""

    def __init__(self, rows: Rows, *, commit: bool) -> None:
        self.rows, self.commit = rows, commit
        self.done = anyio.Event()
        self.failure: EngineError | None = None


class Writer:
    """Owns the connection and the home's lock from now on, and lets both go when its thread ends, however late.

    `settle` is called on the event loop, once for each group of requests.
    """

    def __init__(
        self, connection: sqlite3.Connection, path: Path, lock: HomeLock, settle: Callable[[Sequence[Write]], None]
    ) -> None:
        self.transactions = 0
        """Committed so far."""
        self._connection, self._path, self._lock, self._settle = connection, path, lock, settle
        self._queue: queue.SimpleQueue[Write | None] = queue.SimpleQueue()
        self._failure: EngineError | None = None
        self._loop = asyncio.get_running_loop()
        # A daemon, so that a disk that hangs can't keep the process from ending.
        self._thread = threading.Thread(target=self._run, name="propwash-log-writer", daemon=True)
        self._thread.start()

    def submit(self, write: Write) -> None:
        """Queue a request; requests are written in this order."""
        self._queue.put(write)

    async def stop(self, seconds: float) -> bool:
        """Write what is queued, close the connection and end the thread; False if that takes longer than `seconds`."""
        self._queue.put(None)
        with anyio.move_on_after(seconds):
            await anyio.to_thread.run_sync(self._thread.join, abandon_on_cancel=True)
        return not self._thread.is_alive()

    def _run(self) -> None:
        stopping = False
        while not stopping:
            group = self._next_group()
            stopping = group[-1] is None
            writes = [write for write in group if write is not None]
            if writes:
                self._write(writes)
                self._tell(writes)
        self._close()

    def _next_group(self) -> list[Write | None]:
        """Wait for a request, then take all that are there; events wait a moment for the turn that consumes them."""
        write = self._queue.get()
        group, lingers, latest = [write], True, time.monotonic() + LINGER_SECONDS
        while True:
            lingers = lingers and write is not None and not write.commit
            try:
                write = self._queue.get(timeout=max(latest - time.monotonic(), 0) if lingers else 0)
            except queue.Empty:
                return group
            group.append(write)

    def _write(self, writes: Sequence[Write]) -> None:
        """Write the group as one transaction, or give each request the failure: the log is refused from then on."""
        if self._failure is None:
            try:
                self._transaction(writes)
            except Exception as error:  # a verdict for every request: a dead writer would let them wait for ever
                log.exception("log can't be written", extra={"path": str(self._path)})
                self._failure = self._verdict(error)
        for write in writes:
            write.failure = self._failure

    def _transaction(self, writes: Sequence[Write]) -> None:
        rows = writes[0].rows
        for write in writes[1:]:
            rows.extend(write.rows)
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            rows.write(self._connection)
            self._connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise
        self.transactions += 1

    def _roll_back(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            # Nothing is lost by it: what was not committed is not there at the next start.
            log.warning("rollback failed", extra={"path": str(self._path), "cause": describe(error)})

    def _close(self) -> None:
        try:
            self._connection.close()
        except sqlite3.Error as error:
            log.warning("log was not closed cleanly", extra={"path": str(self._path), "cause": describe(error)})
        finally:
            self._lock.release()

    def _verdict(self, error: Exception) -> EngineError:
        if isinstance(error, sqlite3.IntegrityError):
            return Defect(f"the log {self._path} was asked to write a row twice: {describe(error)}")
        return LogFailed(
            f"the log {self._path} can't be written: {describe(error)}; nothing that was acknowledged is lost, start "
            "again when the cause is gone"
        )

    def _tell(self, writes: Sequence[Write]) -> None:
        try:
            self._loop.call_soon_threadsafe(self._settle, writes)
        except RuntimeError:
            # The event loop is closed: nobody waits for the answer any more.
            log.warning("the log's writer outlived its event loop", extra={"path": str(self._path)})
