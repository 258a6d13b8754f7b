"""The store on local files: a folder of plain files, each whole or not there at all."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from itertools import islice
from pathlib import Path

from engine.adapters.durable_folder import make_durable
from engine.adapters.files import faults
from engine.adapters.files.disk import TOO_LARGE, Disk, Problem
from engine.adapters.files.errands import Errands
from engine.adapters.files.folders import Known
from engine.adapters.files.names import SCHEME, Names
from engine.adapters.files.parts import Appender
from engine.adapters.files.porter import Porter
from engine.adapters.files.staging import NoStaging, Staging, sweep
from engine.adapters.files.thread import IoThread
from engine.adapters.files.writer import FileWriter
from engine.model.errors import BlobNotFound
from engine.ports.blobstore import BlobWriter

SMALL = 1024 * 1024
"""Bytes; what is larger does not go through the thread of the small ones."""
BATCH = 256
"""Objects that `get_many` reads, and `list` finds, in one call of a thread."""


class FileBlobs:
    """A BlobStore. URIs are `file://` + absolute path; a plain absolute path below the root is understood as well.

    One thread serves small objects, another one large objects, streams, listings and deletions.
    """

    def __init__(self, names: Names, disk: Disk, small: Errands, large: IoThread) -> None:
        self._names, self._disk, self._small, self._large = names, disk, small, large
        self._appender = Appender(disk)

    @classmethod
    @asynccontextmanager
    async def open(
        cls, root: str | os.PathLike[str], *, durable: bool = False, porter: bool = False
    ) -> AsyncIterator[FileBlobs]:
        """The store at `root`, which is made if it is not there. Several processes may open the same one.

        durable=True: what was written is on the disk (fsync of the file and of its folders) when a call returns, so it
        survives a loss of power; it costs 10 to 100 times as much. Without it, written objects survive the death of the
        engine but not, for some seconds, that of the machine. porter=True: another process does many small things at
        once. Raises BadInput, StoreFailed, StoreRefused, Transient.
        """
        async with AsyncExitStack() as stack:
            large = IoThread(f"store {root}, large objects")
            stack.push_async_callback(large.close)
            try:
                names, staging = await large.call(partial(_prepare, root))
            except OSError as error:
                raise faults.writing(error, f"{SCHEME}{root}") from error
            stack.callback(large.call, staging.close)
            disk = Disk(names.root, staging, durable=durable)
            small = Errands(disk, IoThread(f"store {root}"))
            stack.push_async_callback(small.close)
            if porter:
                small.porter = Porter(names.root, large, durable=durable)
            yield cls(names, disk, small, large)

    @classmethod
    @asynccontextmanager
    async def open_readonly(cls, root: str | os.PathLike[str]) -> AsyncIterator[FileBlobs]:
        """The store at `root` as it is, for a look: nothing is made, and nothing can be written. Raises BadInput."""
        async with AsyncExitStack() as stack:
            large = IoThread(f"store {root}, large objects")
            stack.push_async_callback(large.close)
            names = await large.call(lambda known: Names(root))
            disk = Disk(names.root, NoStaging(), durable=False)
            small = Errands(disk, IoThread(f"store {root}"))
            stack.push_async_callback(small.close)
            yield cls(names, disk, small, large)

    def uri(self, key: str) -> str:
        return self._names.uri(key)

    async def get(self, uri: str, start: int = 0, end: int | None = None) -> bytes:
        path = self._names.path(uri)
        try:
            data: bytes | None = await self._small.call("read", path, start, end, SMALL)
            if data is None:
                data = await self._large.call(partial(self._disk.read, path, start, end, None))
        except OSError as error:
            raise faults.reading(error, uri) from error
        assert data is not None
        return data

    async def get_many(self, uris: Sequence[str], end: int | None = None) -> list[bytes | None]:
        found: list[bytes | None] = []
        for first in range(0, len(uris), BATCH):
            part = uris[first : first + BATCH]
            read = await self._small.call("read_all", [self._names.path(uri) for uri in part], end, SMALL)
            for uri, data in zip(part, read, strict=True):
                found.append(data if data is None or isinstance(data, bytes) else await self._one(uri, end, data))
        return found

    async def _one(self, uri: str, end: int | None, problem: Problem) -> bytes | None:
        """An object that did not come with the others."""
        if problem == TOO_LARGE:
            return await self.get(uri, 0, end)
        explained = faults.reading(OSError(*problem), uri)
        if isinstance(explained, BlobNotFound):
            return None
        raise explained

    async def put(self, uri: str, data: bytes, *, durable: bool = False) -> None:
        path = self._names.path(uri)
        try:
            if len(data) <= SMALL:
                await self._small.call("write", path, data, durable)
            else:
                await self._large.call(partial(self._disk.write, path, data, durable))
        except OSError as error:
            raise faults.writing(error, uri) from error

    async def create(self, uri: str, data: bytes) -> bool:
        path = self._names.path(uri)
        try:
            await self._small.call("create_object", path, data)
        except FileExistsError:
            return False
        except OSError as error:
            raise faults.writing(error, uri) from error
        return True

    def writer(self, uri: str) -> AbstractAsyncContextManager[BlobWriter]:
        return FileWriter(self._large, self._disk, self._appender, self._names, uri)

    async def size(self, uri: str) -> int | None:
        path = self._names.path(uri)
        try:
            size: int = await self._small.call("size", path)
            return size
        except OSError as error:
            explained = faults.reading(error, uri)
            if isinstance(explained, BlobNotFound):
                return None
            raise explained from error

    async def list(self, prefix_uri: str) -> AsyncIterator[str]:
        walk = self._disk.walk(self._names.folder(prefix_uri))
        try:
            while found := await self._large.call(lambda known: tuple(islice(walk, BATCH))):
                for path in found:
                    yield SCHEME + path
        except OSError as error:
            raise faults.reading(error, prefix_uri) from error
        finally:
            # Behind whatever the thread still does with it; a closed thread does nothing more.
            if not self._large.closed:
                self._large.call(lambda known: walk.close())

    async def delete(self, prefix_uri: str) -> None:
        path = self._names.path(prefix_uri)
        try:
            if await self._small.call("is_there", path):
                await self._large.call(partial(self._disk.remove, path))
        except OSError as error:
            raise faults.writing(error, prefix_uri) from error


def _prepare(root: str | os.PathLike[str], known: Known) -> tuple[Names, Staging]:
    names = Names(root)
    make_durable(Path(names.root))
    sweep(names.root)
    return names, Staging(names.root)
