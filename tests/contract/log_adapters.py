"""The event logs under contract, each with the two accidents that a test may ask for: a crash and a full disk."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Protocol

import anyio.to_thread
import pytest

from engine.adapters.memory.log import MemoryLog
from engine.adapters.sqlite.home import LOG_FILE
from engine.adapters.sqlite.log import SqliteLog
from engine.ports.eventlog import EventLog, Record
from tests.contract.kafka_world import kafka_world


class LogWorld(Protocol):
    @property
    def log(self) -> EventLog: ...

    async def crash(self) -> None:
        """`log` becomes the log that a restarted process would find: only what was on disk."""
        ...

    async def fill_disk(self) -> None:
        """From now on no write of more than a few pages succeeds."""
        ...

    async def stored(self) -> list[Record]:
        """Every stored event, processed or not, in order."""
        ...


class MemoryWorld:
    def __init__(self) -> None:
        self.log = MemoryLog()

    async def crash(self) -> None:
        self.log = self.log.crash()

    async def fill_disk(self) -> None:
        self.log.break_disk("no space left")

    async def stored(self) -> list[Record]:
        return list(await self.log.events())


class SqliteWorld:
    """A crash is a copy of the files as they are at that moment, opened as a home of its own."""

    def __init__(self, folder: Path, stack: AsyncExitStack, log: SqliteLog) -> None:
        self._folder, self._stack, self.log, self._crashes = folder, stack, log, 0

    @property
    def home(self) -> Path:
        return self._folder / str(self._crashes)

    @property
    def path(self) -> Path:
        return self.home / LOG_FILE

    async def leave(self) -> None:
        """As an engine that ends in order: the home is free."""
        await self._stack.aclose()

    async def crash(self) -> None:
        old = self.home
        self._crashes += 1
        await anyio.to_thread.run_sync(copy_as_after_a_crash, old, self.home)
        self.log = await self._stack.enter_async_context(SqliteLog.open(self.home))

    async def fill_disk(self) -> None:
        await anyio.to_thread.run_sync(no_more_pages, self.log)

    async def stored(self) -> list[Record]:
        return list(await self.log.events())


def copy_as_after_a_crash(home: Path, to: Path) -> None:
    """The database and its write-ahead log; the lock and the shared memory die with a process."""
    to.mkdir()
    for file in home.glob(f"{LOG_FILE}*"):
        if not file.name.endswith("-shm"):
            shutil.copy(file, to)


@contextmanager
def nobody_can_write(path: Path) -> Iterator[None]:
    """As a disk that takes its time: the writer waits until the block is left."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")


def no_more_pages(log: SqliteLog) -> None:
    connection = log._writer._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")


@asynccontextmanager
async def sqlite_in(folder: Path) -> AsyncIterator[SqliteWorld]:
    async with AsyncExitStack() as stack:
        yield SqliteWorld(folder, stack, await stack.enter_async_context(SqliteLog.open(folder / "0")))


@pytest.fixture(params=["memory", "sqlite", pytest.param("kafka", marks=pytest.mark.service("kafka"))])
async def log_world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[LogWorld]:
    if request.param == "memory":
        yield MemoryWorld()
        return
    if request.param == "kafka":
        async with kafka_world() as kafka:
            yield kafka
        return
    async with sqlite_in(tmp_path) as world:
        yield world


@pytest.fixture(params=["memory", "sqlite"])
async def keeping_world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[LogWorld]:
    """A log that stores every event it has processed, also those that were not durable before."""
    if request.param == "memory":
        yield MemoryWorld()
        return
    async with sqlite_in(tmp_path) as world:
        yield world


@pytest.fixture
async def sqlite_world(tmp_path: Path) -> AsyncIterator[SqliteWorld]:
    async with sqlite_in(tmp_path) as world:
        yield world
