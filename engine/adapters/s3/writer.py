"""Stream a large object: its parts are sent while the next ones are written; it appears when it is whole, or never."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup

from engine.adapters.s3.calls import Calls
from engine.adapters.s3.upload import Upload
from engine.adapters.s3.writing import Target, put
from engine.adapters.workers import workers
from engine.model.errors import EngineError, Transient
from engine.ports.blobstore import Part


class S3Writer:
    """A BlobWriter. Holds one part that fills up; the parts on their way share `room` with those of other writers."""

    def __init__(
        self, upload: Upload, target: Target, part_bytes: int, room: anyio.Semaphore, tasks: TaskGroup
    ) -> None:
        self._upload, self._target, self._part_bytes = upload, target, part_bytes
        self._room, self._tasks = room, tasks
        self._buffer = bytearray()
        self._parts = 0
        self._whole = True
        self._problem: EngineError | None = None

    async def write(self, chunk: bytes | memoryview) -> None:
        """Raises Transient, StoreFailed, StoreRefused; after that, or after a cancellation, nothing will appear."""
        self._check()
        self._whole = False
        data = memoryview(chunk).cast("B")
        while len(self._buffer) + len(data) >= self._part_bytes:
            taken = self._part_bytes - len(self._buffer)
            self._buffer += data[:taken]
            data = data[taken:]
            await self._hand_over()
        self._buffer += data
        self._whole = True

    async def append_from(self, uris: Sequence[str], part: Part) -> list[int]:
        """Nothing: S3 copies parts of 5 MB and more only, so the bytes have to come here."""
        return []

    async def last(self) -> bool:
        """Send what is left; whether the object goes in parts at all."""
        self._check()
        if self._parts and self._buffer:
            await self._hand_over()
        return self._parts > 0

    async def finish(self, calls: Calls) -> None:
        """All parts are there: let the object appear."""
        self._check()
        if self._parts:
            await self._upload.complete()
        else:
            await put(calls, self._target, bytes(self._buffer))

    async def _hand_over(self) -> None:
        if not self._parts:
            await self._upload.begin()
        self._parts += 1
        part, self._buffer = bytes(self._buffer), bytearray()
        await self._room.acquire()
        self._tasks.start_soon(self._send, self._parts, part)
        self._check_problem()

    async def _send(self, number: int, part: bytes) -> None:
        try:
            if self._problem is None:
                await self._upload.send(number, part)
        except EngineError as problem:
            self._problem = self._problem or problem
        finally:
            self._room.release()

    def _check(self) -> None:
        self._check_problem()
        if not self._whole:
            raise Transient(f"{self._target.uri} is not written: one of its writes was cut short")

    def _check_problem(self) -> None:
        if self._problem is not None:
            raise self._problem


@asynccontextmanager
async def streaming(calls: Calls, target: Target, part_bytes: int, room: anyio.Semaphore) -> AsyncIterator[S3Writer]:
    """A writer whose object appears when the block is left in order. An error of the block comes out as it is."""
    upload = Upload(calls, target)
    try:
        async with workers() as tasks:
            writer = S3Writer(upload, target, part_bytes, room, tasks)
            yield writer
            await writer.last()
        await writer.finish(calls)
    except BaseException:
        await upload.abort()
        raise
