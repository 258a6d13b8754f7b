"""Results of tasks that are kept, to be used again by whoever asks for the same.

A cache that is down is an exception here (Transient, StoreRefused, StoreFailed) and never a failed node: who asks runs
the task.
"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from engine.model.cache import CacheKey
from engine.model.ids import AttemptKey


class CacheEntry(Struct, frozen=True):
    outputs: bytes
    """A serialized `LiteralMap`; every reference in it leads to a value that is kept with the entry."""
    source: AttemptKey
    """The attempt whose outputs they are."""
    stored_at: float
    """Seconds since the epoch."""


class Reservation(Protocol):
    """The right to be the only one who makes the result of a key. It ends some time after nobody holds it any more."""

    async def hold(self) -> None:
        """Keep it alive; runs until it is cancelled, beside the work."""
        ...

    async def release(self) -> None:
        """Let the next one have it now. Trouble with it only makes the others wait until it ends by itself."""
        ...


class Cache(Protocol):
    async def find(self, key: CacheKey) -> CacheEntry | None:
        """What is kept under the key, or None; an entry that can't be read is none."""
        ...

    async def keep(self, key: CacheKey, entry: CacheEntry) -> None:
        """Keep it, in place of what was kept under the key before."""
        ...

    async def reserve(self, key: CacheKey, owner: str) -> Reservation:
        """Wait until nobody else holds the key, however long; `owner` gets back what it held before a crash."""
        ...
