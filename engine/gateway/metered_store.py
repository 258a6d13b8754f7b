"""A store whose calls are measured: how many, how long, how they ended, and how many bytes went through."""

from __future__ import annotations

import time
from asyncio import CancelledError
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager

from prometheus_client import CollectorRegistry, Counter, Histogram

from engine.data.references import OFFLOADED_SUFFIX
from engine.model.errors import BlobNotFound, Transient
from engine.ports.blobstore import BlobStore, BlobWriter, Part

_SECONDS = (0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 120)
_INPUTS = "/inputs.pb"
"""The file of a task's inputs is streamed only where values are put inline for an old runtime (engine.data.gate)."""


class StoreCounts:
    """For all stores of this process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._calls = Histogram(
            "propwash_store_seconds",
            "Duration of a call of the store, by how it ended.",
            ["operation", "outcome"],
            registry=registry,
            buckets=_SECONDS,
        )
        moved = Counter("propwash_store_bytes", "Bytes read and written.", ["direction"], registry=registry)
        self.read, self.written = moved.labels("read"), moved.labels("written")
        self.offloaded = _Values(registry, "offloaded", "values of maps that became references")
        self.materialised = _Values(registry, "materialised", "task inputs that got values in place of references")

    @contextmanager
    def call(self, operation: str) -> Iterator[None]:
        outcome = "error"
        began = time.perf_counter()
        try:
            yield
            outcome = "ok"
        except BlobNotFound:
            outcome = "not_found"
            raise
        except Transient:
            outcome = "passing"
            raise
        except CancelledError:
            outcome = "cancelled"
            raise
        finally:
            self._calls.labels(operation, outcome).observe(time.perf_counter() - began)

    def streamed(self, uri: str, size: int) -> None:
        self.written.inc(size)
        if uri.endswith(OFFLOADED_SUFFIX):
            self.offloaded.add(size)
        elif uri.endswith(_INPUTS):
            self.materialised.add(size)


class MeteredBlobs:
    """A `BlobStore` (engine.ports.blobstore)."""

    def __init__(self, blobs: BlobStore, counts: StoreCounts) -> None:
        self._blobs, self._counts, self._call = blobs, counts, counts.call

    def uri(self, key: str) -> str:
        return self._blobs.uri(key)

    async def get(self, uri: str, start: int = 0, end: int | None = None) -> bytes:
        with self._call("get"):
            data = await self._blobs.get(uri, start, end)
        self._counts.read.inc(len(data))
        return data

    async def get_many(self, uris: Sequence[str], end: int | None = None) -> list[bytes | None]:
        with self._call("get_many"):
            found = await self._blobs.get_many(uris, end)
        self._counts.read.inc(sum(len(data) for data in found if data))
        return found

    async def put(self, uri: str, data: bytes, *, durable: bool = False) -> None:
        with self._call("put"):
            await self._blobs.put(uri, data, durable=durable)
        self._counts.written.inc(len(data))

    async def create(self, uri: str, data: bytes) -> bool:
        with self._call("create"):
            created = await self._blobs.create(uri, data)
        self._counts.written.inc(len(data) if created else 0)
        return created

    def writer(self, uri: str) -> AbstractAsyncContextManager[BlobWriter]:
        return self._writer(uri)

    @asynccontextmanager
    async def _writer(self, uri: str) -> AsyncIterator[BlobWriter]:
        with self._call("write"):
            async with self._blobs.writer(uri) as inner:
                counting = _Counting(inner, self._counts)
                yield counting
        self._counts.streamed(uri, counting.size)

    async def size(self, uri: str) -> int | None:
        with self._call("size"):
            return await self._blobs.size(uri)

    async def list(self, prefix_uri: str) -> AsyncIterator[str]:
        with self._call("list"):
            async for uri in self._blobs.list(prefix_uri):
                yield uri

    async def delete(self, prefix_uri: str) -> None:
        with self._call("delete"):
            await self._blobs.delete(prefix_uri)


class _Values:
    def __init__(self, registry: CollectorRegistry, name: str, what: str) -> None:
        self._count = Counter(f"propwash_{name}_values", f"How many {what}.", registry=registry)
        self._bytes = Counter(f"propwash_{name}_bytes", f"Bytes of {what}.", registry=registry)

    def add(self, size: int) -> None:
        self._count.inc()
        self._bytes.inc(size)


class _Counting:
    """A writer that knows how much went through it."""

    def __init__(self, inner: BlobWriter, counts: StoreCounts) -> None:
        self._inner, self._counts = inner, counts
        self.size = 0

    async def write(self, chunk: bytes | memoryview) -> None:
        await self._inner.write(chunk)
        self.size += len(chunk)

    async def append_from(self, uris: Sequence[str], part: Part) -> list[int]:
        sizes = await self._inner.append_from(uris, part)
        self.size += sum(sizes)
        self._counts.read.inc(sum(sizes))
        return sizes
