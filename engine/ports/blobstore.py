"""The store of values and files: one object a URI, whole or not there at all.

Adapters refuse (StoreRefused) every URI outside their root. A broken disk or network is Transient when it may pass.
Every error names the URI.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

Part = Callable[[memoryview, int], tuple[bytes, int, int] | None]
"""Of the beginning of an object and the object's size: what to put before a part of it, and where that part starts and
ends. None where the beginning doesn't tell. May be called in another thread; must keep nothing of the beginning."""


class BlobWriter(Protocol):
    async def write(self, chunk: bytes | memoryview) -> None:
        """Append a chunk; returns when it is taken off the caller's hands (memory stays bounded)."""
        ...

    async def append_from(self, uris: Sequence[str], part: Part) -> list[int]:
        """Append a part of each of these objects, in order, where they lie; the bytes that each one has added.

        It may end early, perhaps before the first of them: at one that is not there, can't be read or whose beginning
        doesn't tell, and where a store can't do that at all. The caller then reads and writes.
        """
        ...


class BlobStore(Protocol):
    def uri(self, key: str) -> str:
        """The URI of a key of engine.model.layout (relative, '/'-separated). Raises StoreRefused for odd keys."""
        ...

    async def get(self, uri: str, start: int = 0, end: int | None = None) -> bytes:
        """The object, or its bytes from `start` up to `end` (exclusive, like a slice). Raises BlobNotFound."""
        ...

    async def get_many(self, uris: Sequence[str], end: int | None = None) -> list[bytes | None]:
        """Many objects at once, in order, each up to byte `end` (exclusive); None where there is no such object."""
        ...

    async def put(self, uri: str, data: bytes, *, durable: bool = False) -> None:
        """Write or replace an object; readers see the old or the new one, never a part.

        durable=True: at the return it survives a loss of power (what an acknowledged submission refers to must).
        """
        ...

    async def create(self, uri: str, data: bytes) -> bool:
        """Write an object that is not there yet, durably. False, and nothing is changed, where there is one.

        Of several at once, in whatever processes, one gets True.
        """
        ...

    def writer(self, uri: str) -> AbstractAsyncContextManager[BlobWriter]:
        """Stream a large object. It appears on a clean exit of the block; on an error or cancellation nothing stays."""
        ...

    async def size(self, uri: str) -> int | None:
        """Bytes, or None where there is no such object."""
        ...

    def list(self, prefix_uri: str) -> AsyncIterator[str]:
        """URIs of the objects whose URI starts with `prefix_uri` + '/', in no promised order."""
        ...

    async def delete(self, prefix_uri: str) -> None:
        """Delete the object at this URI and every object below it; no error if there is none."""
        ...
