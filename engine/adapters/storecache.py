"""The cache on the store of values: an entry is one object, so it lies wherever the store does."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from engine.adapters.leases import Leases
from engine.model import layout
from engine.model.cache import CacheKey
from engine.model.ids import AttemptKey, ExecutionId
from engine.ports.blobstore import BlobStore
from engine.ports.cache import CacheEntry, Reservation

log = logging.getLogger(__name__)
PAGE = 200
"""Entries read at once, where all are looked at."""
FORMAT = 1
"""Goes up when older bytes would be misread; an entry of another format is as good as none."""


class _Stored(Struct, frozen=True):
    format: int
    entry: CacheEntry


class Kept(Struct, frozen=True):
    """One entry as it lies there."""

    project: str
    domain: str
    task: str
    """As `engine.model.ids.label` names it."""
    uri: str
    """The folder of the entry and of the values that it refers to."""
    source: AttemptKey
    stored_at: float


class StoreCache:
    def __init__(self, blobs: BlobStore, leases: Leases | None = None) -> None:
        self._blobs = blobs
        self._leases = leases or Leases(blobs)

    async def find(self, key: CacheKey) -> CacheEntry | None:
        uri = self._uri(key)
        (data,) = await self._blobs.get_many([uri])
        return None if data is None else _read(data, uri)

    async def kept(self) -> AsyncIterator[Kept]:
        """Every entry that can be read, in no promised order; read some at a time. Raises as the store does."""
        page: list[str] = []
        async for uri in self._blobs.list(self._blobs.uri(layout.CACHE_PREFIX)):
            if uri.endswith(f"/{layout.CACHE_ENTRY}"):
                page.append(uri)
            if len(page) == PAGE:
                for one in await self._page(page):
                    yield one
                page = []
        for one in await self._page(page):
            yield one

    async def _page(self, uris: Sequence[str]) -> list[Kept]:
        found = zip(uris, await self._blobs.get_many(uris), strict=True)
        read = ((uri, _read(data, uri)) for uri, data in found if data is not None)
        return [_kept(uri, entry) for uri, entry in read if entry is not None]

    async def forget(self, kept: Kept, *, values: bool) -> None:
        """The next one who asks finds nothing. `values`: what the entry refers to is deleted, too."""
        await self._blobs.delete(f"{kept.uri}/{layout.CACHE_ENTRY}")
        if values:
            await self._blobs.delete(kept.uri)

    async def keep(self, key: CacheKey, entry: CacheEntry) -> None:
        await self._blobs.put(self._uri(key), msgspec.msgpack.encode(_Stored(FORMAT, entry)))

    async def reserve(self, key: CacheKey, owner: str) -> Reservation:
        return await self._leases.acquire(self._blobs.uri(f"{layout.cache_prefix(key)}/lease"), owner)

    def waits(self, execution: ExecutionId) -> Mapping[str, str]:
        """See engine.ports.waits: for an equal attempt, which holds the lease."""
        found = {}
        for owner, holder in self._leases.holders().items():
            asked, path = owner.split("|")[:2]
            if asked == str(execution) and not path.endswith("]"):
                found[path] = f"an equal attempt to end (cache_serialize){_place(holder)}"
        return found

    def _uri(self, key: CacheKey) -> str:
        return self._blobs.uri(f"{layout.cache_prefix(key)}/{layout.CACHE_ENTRY}")


def _kept(uri: str, entry: CacheEntry) -> Kept:
    project, domain, task, _, _ = uri.split("/")[-5:]
    return Kept(project, domain, task, uri.rpartition("/")[0], entry.source, entry.stored_at)


def _read(data: bytes, uri: str) -> CacheEntry | None:
    try:
        stored = msgspec.msgpack.decode(data, type=_Stored)
    except msgspec.DecodeError as problem:
        log.warning("a cache entry can't be read", extra={"uri": uri, "cause": str(problem)})
        return None
    return stored.entry if stored.format == FORMAT else None


def _place(owner: str) -> str:
    """`: node n0 of execution p:d:e1`, of an attempt key as text."""
    execution, _, rest = owner.partition("|")
    return f": node {rest.partition('|')[0]} of execution {execution}" if rest else ""
