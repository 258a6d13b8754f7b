"""The cache on the store of values: an entry is one object, so it lies wherever the store does."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from engine.adapters.leases import Leases
from engine.model import layout
from engine.model.cache import CacheKey
from engine.model.ids import ExecutionId
from engine.ports.blobstore import BlobStore
from engine.ports.cache import CacheEntry, Reservation

log = logging.getLogger(__name__)
FORMAT = 1
"""Goes up when older bytes would be misread; an entry of another format is as good as none."""


class _Stored(Struct, frozen=True):
    format: int
    entry: CacheEntry


class StoreCache:
    def __init__(self, blobs: BlobStore, leases: Leases | None = None) -> None:
        self._blobs = blobs
        self._leases = leases or Leases(blobs)

    async def find(self, key: CacheKey) -> CacheEntry | None:
        uri = self._uri(key)
        (data,) = await self._blobs.get_many([uri])
        if data is None:
            return None
        try:
            stored = msgspec.msgpack.decode(data, type=_Stored)
        except msgspec.DecodeError as problem:
            log.warning("a cache entry can't be read", extra={"uri": uri, "cause": str(problem)})
            return None
        return stored.entry if stored.format == FORMAT else None

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
        return self._blobs.uri(f"{layout.cache_prefix(key)}/entry")


def _place(owner: str) -> str:
    """`: node n0 of execution p:d:e1`, of an attempt key as text."""
    execution, _, rest = owner.partition("|")
    return f": node {rest.partition('|')[0]} of execution {execution}" if rest else ""
