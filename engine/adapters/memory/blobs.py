"""The store in memory: the same names, errors and atomicity as the real ones; keys are flat, as in S3."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from engine.adapters import blobkeys
from engine.model.errors import BlobNotFound, StoreRefused, Transient
from engine.ports.blobstore import BlobWriter, Part

ROOT = "memory://store"


class MemoryBlobs:
    """A BlobStore. Every operation gives other tasks a turn before it acts, as one that does I/O would."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        """By URI; tests may look inside."""

    def uri(self, key: str) -> str:
        uri = f"{ROOT}/{key}"
        blobkeys.check(key, uri)
        return uri

    async def get(self, uri: str, start: int = 0, end: int | None = None) -> bytes:
        _check(uri)
        await asyncio.sleep(0)
        try:
            return self.objects[uri][start:end]
        except KeyError:
            raise BlobNotFound(uri) from None

    async def get_many(self, uris: Sequence[str], end: int | None = None) -> list[bytes | None]:
        for uri in uris:
            _check(uri)
        await asyncio.sleep(0)
        return [None if (found := self.objects.get(uri)) is None else found[:end] for uri in uris]

    async def put(self, uri: str, data: bytes, *, durable: bool = False) -> None:
        _check(uri)
        await asyncio.sleep(0)
        self.objects[uri] = bytes(data)

    async def create(self, uri: str, data: bytes) -> bool:
        _check(uri)
        await asyncio.sleep(0)
        if uri in self.objects:
            return False
        self.objects[uri] = bytes(data)
        return True

    @asynccontextmanager
    async def writer(self, uri: str) -> AsyncIterator[BlobWriter]:
        _check(uri)
        buffer = _Buffer(uri)
        yield buffer
        buffer.check_whole()
        await asyncio.sleep(0)
        self.objects[uri] = bytes(buffer.data)

    async def size(self, uri: str) -> int | None:
        _check(uri)
        await asyncio.sleep(0)
        found = self.objects.get(uri)
        return None if found is None else len(found)

    async def list(self, prefix_uri: str) -> AsyncIterator[str]:
        if prefix_uri != ROOT:
            _check(prefix_uri)
        for uri in [uri for uri in self.objects if uri.startswith(f"{prefix_uri}/")]:
            await asyncio.sleep(0)
            yield uri

    async def delete(self, prefix_uri: str) -> None:
        _check(prefix_uri)
        await asyncio.sleep(0)
        self.objects.pop(prefix_uri, None)
        for uri in [uri for uri in self.objects if uri.startswith(f"{prefix_uri}/")]:
            del self.objects[uri]


class _Buffer:
    def __init__(self, uri: str) -> None:
        self.data = bytearray()
        self._uri, self._whole = uri, True

    async def write(self, chunk: bytes | memoryview) -> None:
        self.check_whole()
        self._whole = False
        await asyncio.sleep(0)
        self.data += chunk
        self._whole = True

    async def append_from(self, uris: Sequence[str], part: Part) -> list[int]:
        """As a distant store: nothing."""
        return []

    def check_whole(self) -> None:
        if not self._whole:
            raise Transient(f"{self._uri} is not written: one of its writes was cut short")


def _check(uri: str) -> None:
    if not uri.startswith(f"{ROOT}/"):
        raise StoreRefused(f"the store does not touch {uri!r}: it is not below {ROOT}/")
    blobkeys.check(uri[len(ROOT) + 1 :], uri)
