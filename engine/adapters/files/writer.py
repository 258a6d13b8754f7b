"""Stream a large object: it appears under its name when it is whole, or never."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Sequence
from functools import partial

import anyio

from engine.adapters.files import faults
from engine.adapters.files.disk import Disk
from engine.adapters.files.folders import Known
from engine.adapters.files.names import Names
from engine.adapters.files.parts import Appender
from engine.adapters.files.removal import remove
from engine.adapters.files.thread import IoThread
from engine.model.errors import Transient
from engine.ports.blobstore import Part

BUFFER = 1024 * 1024
"""Bytes handed to the thread at a time, as soon as there are so many: one part fills while another one is written."""
LAST_STEP_SECONDS = 60.0
"""The longest that a writer's end waits for the disk."""

_Call = asyncio.Future[list[int]] | asyncio.Future[None]


class FileWriter:
    """A BlobWriter, and the async context manager around it."""

    def __init__(self, thread: IoThread, disk: Disk, appender: Appender, names: Names, uri: str) -> None:
        self._thread, self._disk, self._appender, self._names = thread, disk, appender, names
        self._uri, self._path = uri, names.path(uri)
        self._pieces: list[bytes | memoryview] = []
        """Written and not handed over yet: `_held` bytes, which are not copied."""
        self._held = 0
        self._under_way: _Call | None = None
        self._whole = True
        self._descriptor = -1
        self._temporary = ""

    async def __aenter__(self) -> FileWriter:
        self._under_way = self._thread.call(self._create)
        return self

    async def write(self, chunk: bytes | memoryview) -> None:
        """Raises StoreFailed, StoreRefused, Transient; after that, or after a cancellation, nothing will appear."""
        self._check_whole()
        if isinstance(chunk, memoryview):
            chunk = chunk.cast("B") if chunk.readonly else bytes(chunk)
        self._pieces.append(chunk)
        self._held += len(chunk)
        if self._held >= BUFFER:
            self._whole = False
            await self._hand_over()
            self._whole = True

    async def append_from(self, uris: Sequence[str], part: Part) -> list[int]:
        """Raises as `write`."""
        self._check_whole()
        paths = [self._names.path(uri) for uri in uris]
        self._whole = False
        # Called before the last one is waited for: what is called in one tick goes to the thread and back together.
        before, appending = self._under_way, self._thread.call(partial(self._append_parts, self._pieces, paths, part))
        self._under_way, self._pieces, self._held = appending, [], 0
        await self._done(before)
        await self._wait()
        self._whole = True
        return appending.result()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        there = False
        try:
            if kind is None:
                await self._finish()
                there = True
        finally:
            if not there:
                await self._last_step(self._abandon)
                under_way = self._under_way
                if under_way is not None and under_way.done() and not under_way.cancelled():
                    # Looked at, so that asyncio does not report as forgotten what the block's own error has overtaken.
                    under_way.exception()

    async def _finish(self) -> None:
        self._check_whole()
        await self._wait()
        step = await self._last_step(self._publish)
        if not step.done():
            raise Transient(f"{self._uri} was not written within {LAST_STEP_SECONDS:g} seconds after its last byte")
        try:
            step.result()
        except OSError as error:
            raise faults.writing(error, self._uri) from error

    def _check_whole(self) -> None:
        if not self._whole:
            raise Transient(f"{self._uri} is not written: one of its writes was cut short")

    async def _hand_over(self) -> None:
        await self._wait()
        self._under_way = self._thread.call(partial(self._append, self._pieces))
        self._pieces, self._held = [], 0

    async def _wait(self) -> None:
        await self._done(self._under_way)
        self._under_way = None

    async def _done(self, call: _Call | None) -> None:
        try:
            if call is not None:
                await call
        except OSError as error:
            raise faults.writing(error, self._uri) from error

    async def _last_step(self, work: Callable[[Known], None]) -> asyncio.Future[None]:
        """Have it done whatever happens to this task: it runs in its turn even when nobody waits any more."""
        step = self._thread.call(work)
        with anyio.CancelScope(shield=True):
            await asyncio.wait([step], timeout=LAST_STEP_SECONDS)
        return step

    def _create(self, known: Known) -> None:
        self._descriptor, self._temporary = self._disk.create()

    def _append(self, pieces: list[bytes | memoryview], known: Known) -> None:
        self._disk.append_all(self._descriptor, pieces)

    def _append_parts(
        self, pieces: list[bytes | memoryview], paths: Sequence[str], part: Part, known: Known
    ) -> list[int]:
        self._append(pieces, known)
        return self._appender.append(self._descriptor, paths, part, known)

    def _publish(self, known: Known) -> None:
        self._disk.append_all(self._descriptor, self._pieces)
        self._disk.settle(self._descriptor)
        self._close()
        self._disk.publish(self._temporary, self._path, known)

    def _abandon(self, known: Known) -> None:
        # What can't be removed now is swept when the store is next opened.
        with contextlib.suppress(OSError):
            self._close()
            if self._temporary:
                remove(self._temporary)

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
