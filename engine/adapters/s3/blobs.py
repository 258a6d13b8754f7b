"""The store on S3: objects of one bucket, below one prefix."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio

from engine.adapters.s3.calls import Calls
from engine.adapters.s3.client import connect
from engine.adapters.s3.creating import Creator
from engine.adapters.s3.listing import PAGE, Listing
from engine.adapters.s3.names import Names
from engine.adapters.s3.options import S3Options
from engine.adapters.s3.reading import Reader
from engine.adapters.s3.writer import streaming
from engine.adapters.s3.writing import Target, extras_of, put
from engine.model.errors import BadInput, BlobNotFound, EngineError, StoreFailed, StoreRefused, Transient
from engine.ports.blobstore import BlobWriter

FIRST_SECONDS = 10.0
"""How long the very first call is tried: somebody waits for the engine to start."""


class S3Blobs:
    """A BlobStore. Everything it acknowledges is durable, so `durable` makes no difference."""

    def __init__(self, names: Names, calls: Calls, options: S3Options) -> None:
        self._names, self._calls, self._options = names, calls, options
        self._reader, self._listing = Reader(calls, names.bucket), Listing(calls, names.bucket)
        self._room = anyio.Semaphore(options.parallel_parts)
        self._extras = extras_of(options)
        self._creator = Creator(calls, self._reader)

    @classmethod
    @asynccontextmanager
    async def open(cls, root: str, options: S3Options) -> AsyncIterator[S3Blobs]:
        """The store at `s3://bucket` or `s3://bucket/prefix`; the bucket must be there. Many may open the same one.

        Raises BadInput where it can't be used as the options say, StoreFailed where the service can't be reached.
        """
        names = Names(root)
        async with connect(options) as client:
            store = cls(names, Calls(client, options), options)
            await store._check()
            yield store

    def uri(self, key: str) -> str:
        return self._names.uri(key)

    async def get(self, uri: str, start: int = 0, end: int | None = None) -> bytes:
        return await self._reader.get(uri, self._names.key(uri), start, end)

    async def get_many(self, uris: Sequence[str], end: int | None = None) -> list[bytes | None]:
        found: list[bytes | None] = [None] * len(uris)
        waiting = iter([(place, uri, self._names.key(uri)) for place, uri in enumerate(uris)])
        problems: list[EngineError] = []

        async def work() -> None:
            for place, uri, key in waiting:
                try:
                    found[place] = await self._reader.get(uri, key, 0, end)
                except BlobNotFound:
                    found[place] = None
                except EngineError as problem:
                    problems.append(problem)
                    tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            for _ in range(min(len(uris), self._options.max_connections)):
                tasks.start_soon(work)
        if problems:
            raise problems[0]
        return found

    async def put(self, uri: str, data: bytes, *, durable: bool = False) -> None:
        await put(self._calls, self._target(uri), data)

    async def create(self, uri: str, data: bytes) -> bool:
        return await self._creator.create(self._target(uri), data)

    def writer(self, uri: str) -> AbstractAsyncContextManager[BlobWriter]:
        return streaming(self._calls, self._target(uri), self._options.part_bytes, self._room)

    async def size(self, uri: str) -> int | None:
        return await self._reader.size(uri, self._names.key(uri))

    async def list(self, prefix_uri: str) -> AsyncIterator[str]:
        async for keys in self._listing.pages(prefix_uri, self._names.folder(prefix_uri)):
            for uri in filter(None, map(self._names.uri_of, keys)):
                yield uri

    async def delete(self, prefix_uri: str) -> None:
        key, waiting = self._names.key(prefix_uri), list[str]()
        async for keys in self._listing.pages(prefix_uri, f"{key}/", PAGE - 1):
            if waiting:
                await self._listing.delete(prefix_uri, waiting)
            waiting = keys
        # Last, because some services keep objects as files, and a name with others below it as a folder.
        await self._listing.delete(prefix_uri, [*waiting, key])

    def _target(self, uri: str) -> Target:
        return Target(uri, self._names.bucket, self._names.key(uri), self._extras)

    async def _check(self) -> None:
        """The first call: does the bucket answer to these credentials?"""
        root = self._names.root
        try:
            with anyio.fail_after(FIRST_SECONDS):
                async for _ in self._listing.pages(root, self._names.folder(root), 1):
                    break
        except (StoreRefused, StoreFailed) as problem:
            raise BadInput(f"the store {root} can't be used: {problem}; nothing was started") from problem
        except (Transient, TimeoutError) as problem:
            place = self._options.endpoint or "AWS"
            raise StoreFailed(
                f"the store {root} at {place} can't be reached: {problem}; nothing was started"
            ) from problem
