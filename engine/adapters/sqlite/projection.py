"""The projection of a shared log: a file that answers questions as a log does, and holds nothing that can be lost."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from engine.adapters.sqlite import projection_rows
from engine.adapters.sqlite.projection_file import connect
from engine.adapters.sqlite.reader import SqliteReader
from engine.adapters.sqlite.schema import describe
from engine.model.errors import LogFailed
from engine.model.state import Execution, Fact
from engine.ports.projection import Update

CLOSE_SECONDS = 5.0
PRUNE_SECONDS = 600.0
"""Between two looks for what is older than is kept."""

Tell = Callable[[Sequence[Execution], Sequence[Fact]], None]


class SqliteProjection(SqliteReader):
    """A `Projection` and a `Journal`. Use `open`."""

    def __init__(
        self,
        path: Path,
        connections: tuple[sqlite3.Connection, sqlite3.Connection],
        keep_seconds: float,
        tell: Tell,
        now: Callable[[], float],
    ) -> None:
        self._writer, reader = connections
        super().__init__(reader, path)
        self._keep_seconds, self._tell, self._now = keep_seconds, tell, now
        self._writing = anyio.CapacityLimiter(1)
        self._pruned_at = 0.0
        self.positions: Mapping[str, int] = projection_rows.positions(self._writer)

    @classmethod
    @asynccontextmanager
    async def open(
        cls, path: Path, source: str, keep_seconds: float, tell: Tell, now: Callable[[], float] = time.time
    ) -> AsyncIterator[SqliteProjection]:
        """The file, which no other process may have; made anew where it is damaged, old, or of another `source`.

        `keep_seconds`: how long an execution is kept after its last fact, once it has ended. `tell` hears what is new
        as soon as it can be read. Raises LogFailed.
        """

        def make() -> SqliteProjection:
            return cls(path, connect(path, source, now()), keep_seconds, tell, now)

        mine = await to_thread.run_sync(make)
        try:
            yield mine
        finally:
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await mine.close()
                await to_thread.run_sync(mine._writer.close, limiter=mine._writing, abandon_on_cancel=True)

    async def absorb(self, update: Update) -> None:
        await self._write(partial(projection_rows.absorb, self._writer, update, self._now()))
        self.positions = {**self.positions, **update.positions}
        self._tell([record for record, _ in update.executions.values()], [fact for fact, _ in update.facts])
        if self._now() - self._pruned_at >= PRUNE_SECONDS:
            self._pruned_at = self._now()
            await self.prune()

    async def clear(self) -> None:
        await self._write(partial(projection_rows.clear, self._writer))
        self.positions = {}

    async def prune(self) -> None:
        """Delete everything of which nothing was heard for so long, but for executions that have not ended."""
        before = self._now() - self._keep_seconds
        while await self._write(partial(projection_rows.prune, self._writer, before)):
            pass

    async def _write(self, work: Callable[[], int]) -> int:
        # Not abandoned: whoever is told to stop waits for the transaction that is under way.
        return await to_thread.run_sync(self._transaction, work, limiter=self._writing)

    def _transaction(self, work: Callable[[], int]) -> int:
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                found = work()
                self._writer.execute("COMMIT")
            except BaseException:
                self._writer.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise LogFailed(
                f"the projection {self._path} can't be written: {describe(error)}; where the file is damaged, delete "
                "it: it is made anew"
            ) from error
        return found
