"""A small shelf for what was read from the store and will be asked for again soon; bounded, the oldest goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

import anyio

from engine.ports.blobstore import BlobStore


class Weighed(Protocol):
    @property
    def weight(self) -> int:
        """Bytes of memory it takes, roughly."""
        ...


T = TypeVar("T", bound=Weighed)
_Key = tuple[int, str]


class Shelf(Generic[T]):
    """By store and URI. Whoever writes an object again puts its new contents here or takes the old ones away."""

    def __init__(self, most_bytes: int) -> None:
        self._most, self._weight = most_bytes, 0
        self._kept: OrderedDict[_Key, tuple[BlobStore, T]] = OrderedDict()
        self._reading: dict[_Key, anyio.Lock] = {}

    def put(self, blobs: BlobStore, uri: str, value: T) -> None:
        key = (id(blobs), uri)
        self._drop(key)
        if value.weight > self._most:
            return
        self._kept[key] = (blobs, value)
        self._weight += value.weight
        while self._weight > self._most:
            self._drop(next(iter(self._kept)))

    def find(self, blobs: BlobStore, uri: str) -> T | None:
        """What is kept, or None."""
        key = (id(blobs), uri)
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][1]

    def drop(self, blobs: BlobStore, uri: str) -> None:
        self._drop((id(blobs), uri))

    async def get(self, blobs: BlobStore, uri: str, read: Callable[[], Awaitable[T]]) -> T:
        """What is kept, or what `read` gives: asked by many at once, it reads once."""
        key = (id(blobs), uri)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key][1]
        lock = self._reading.setdefault(key, anyio.Lock())
        try:
            async with lock:
                if key not in self._kept:
                    value = await read()
                    self.put(blobs, uri, value)
                    return value
                return self._kept[key][1]
        finally:
            if not lock.statistics().tasks_waiting:
                self._reading.pop(key, None)

    def _drop(self, key: _Key) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._weight -= kept[1].weight
