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
from engine.adapters.files.disk import Disk
from engine.adapters.files.names import SCHEME, Names
from engine.adapters.files.staging import NoStaging, Staging, sweep
from engine.adapters.files.thread import IoThread, Known
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

    def __init__(self, names: Names, disk: Disk, small: IoThread, large: IoThread) -> None:
        self._names, self._disk, self._small, self._large = names, disk, small, large

    @classmethod
    @asynccontextmanager
    async def open(cls, root: str | os.PathLike[str], *, durable: bool = False) -> AsyncIterator[FileBlobs]:
        """The store at `root`, which is made if it is not there. Several processes may open the same one.

        durable=True: what was written is on the disk (fsync of the file and of its folders) when a call returns, so it
        survives a loss of power; it costs 10 to 100 times as much. Without it, written objects survive the death of the
        engine but not, for some seconds, that of the machine. Raises BadInput, StoreFailed, StoreRefused, Transient.
        """
        async with AsyncExitStack() as stack:
            large = IoThread(f"store {root}, large objects")
            stack.push_async_callback(large.close)
            try:
                names, staging = await large.call(partial(_prepare, root))
            except OSError as error:
                raise faults.writing(error, f"{SCHEME}{root}") from error
            stack.callback(large.call, staging.close)
            small = IoThread(f"store {root}")
            stack.push_async_callback(small.close)
            yield cls(names, Disk(names.root, staging, durable=durable), small, large)

    @classmethod
    @asynccontextmanager
    async def open_readonly(cls, root: str | os.PathLike[str]) -> AsyncIterator[FileBlobs]:
        """The store at `root` as it is, for a look: nothing is made, and nothing can be written. Raises BadInput."""
        async with AsyncExitStack() as stack:
            large, small = IoThread(f"store {root}, large objects"), IoThread(f"store {root}")
            stack.push_async_callback(large.close)
            stack.push_async_callback(small.close)
            names = await large.call(lambda known: Names(root))
            yield cls(names, Disk(names.root, NoStaging(), durable=False), small, large)

    def uri(self, key: str) -> str:
        return self._names.uri(key)

    async def get(self, uri: str, start: int = 0, end: int | None = None) -> bytes:
        path = self._names.path(uri)
        try:
            data = await self._small.call(partial(self._disk.read, path, start, end, SMALL))
            if data is None:
                data = await self._large.call(partial(self._disk.read, path, start, end, None))
        except OSError as error:
            raise faults.reading(error, uri) from error
        assert data is not None
        return data

    async def get_many(self, uris: Sequence[str], end: int | None = None) -> list[bytes | None]:
        named = [(uri, self._names.path(uri)) for uri in uris]
        found: list[bytes | None] = []
        for first in range(0, len(named), BATCH):
            part, too_large = await self._small.call(partial(self._read_all, named[first : first + BATCH], end))
            found += part
            for index in too_large:
                found[first + index] = await self.get(uris[first + index], 0, end)
        return found

    def _read_all(
        self, named: Sequence[tuple[str, str]], end: int | None, known: Known
    ) -> tuple[list[bytes | None], list[int]]:
        """In the thread: the objects, and the places of those that are not small."""
        found: list[bytes | None] = []
        too_large = []
        for index, (uri, path) in enumerate(named):
            try:
                data = self._disk.read(path, 0, end, SMALL, known)
                if data is None:
                    too_large.append(index)
                found.append(data)
            except FileNotFoundError:
                found.append(None)
            except OSError as error:
                explained = faults.reading(error, uri)
                if not isinstance(explained, BlobNotFound):
                    raise explained from error
                found.append(None)
        return found, too_large

    async def put(self, uri: str, data: bytes, *, durable: bool = False) -> None:
        path = self._names.path(uri)
        thread = self._small if len(data) <= SMALL else self._large
        try:
            await thread.call(partial(self._disk.write, path, data, durable=durable))
        except OSError as error:
            raise faults.writing(error, uri) from error

    async def create(self, uri: str, data: bytes) -> bool:
        path = self._names.path(uri)
        try:
            await self._small.call(partial(self._disk.create_object, path, data))
        except FileExistsError:
            return False
        except OSError as error:
            raise faults.writing(error, uri) from error
        return True

    def writer(self, uri: str) -> AbstractAsyncContextManager[BlobWriter]:
        return FileWriter(self._large, self._disk, uri, self._names.path(uri))

    async def size(self, uri: str) -> int | None:
        path = self._names.path(uri)
        try:
            return await self._small.call(partial(self._disk.size, path))
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
            if await self._small.call(partial(self._disk.is_there, path)):
                await self._large.call(partial(self._disk.remove, path))
        except OSError as error:
            raise faults.writing(error, prefix_uri) from error


def _prepare(root: str | os.PathLike[str], known: Known) -> tuple[Names, Staging]:
    names = Names(root)
    make_durable(Path(names.root))
    sweep(names.root)
    return names, Staging(names.root)
