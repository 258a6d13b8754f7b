"""Leases on the store of values: one holder at a time, whichever engine asks; a holder that is dead loses its lease.

A lease is the newest of numbered objects in a folder. It is taken by creating the next number, which only one can. Its
holder writes it again every few seconds; one that has not changed for long enough is nobody's. No clocks are compared:
who waits measures by its own clock how long the object has been the same.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio
import msgspec
from msgspec import Struct

from engine.model.errors import BlobNotFound, StoreFailed, StoreRefused, Transient
from engine.ports.blobstore import BlobStore

log = logging.getLogger(__name__)
FREE = b""
"""What a lease holds that was given back."""
_TROUBLE = (BlobNotFound, StoreFailed, StoreRefused, Transient)


class Times(Struct, frozen=True):
    beat_seconds: float = 10.0
    expiry_seconds: float = 30.0
    """A lease that has not changed for so long is nobody's."""
    look_seconds: float = 2.0
    """How often one looks at a lease that another engine holds; inside an engine, waiters are told."""


class _Held(Struct, frozen=True):
    engine: str
    owner: str
    beat: int = 0


@dataclass(slots=True)
class _Place:
    """What this engine knows of one folder."""

    waiting: int = 0
    held: bool = False
    """By someone of this engine."""
    holder: str = ""
    """Who was last seen to hold it, of whatever engine."""
    trying: anyio.Lock = field(default_factory=anyio.Lock)
    released: anyio.Event = field(default_factory=anyio.Event)
    seen: tuple[str, bytes] = ("", FREE)
    """The lease of another engine as it was last seen, and since when it has been so."""
    seen_at: float = 0.0


class Leases:
    def __init__(self, blobs: BlobStore, *, engine: str = "", times: Times | None = None) -> None:
        """`engine`: a name that no other living engine has; what an engine of that name held is this one's."""
        self._blobs, self._times = blobs, times or Times()
        self._engine = engine or secrets.token_hex(8)
        self._places: dict[str, _Place] = {}
        self._owners: dict[str, _Place] = {}
        """Those that wait."""

    async def acquire(self, folder: str, owner: str) -> Lease:
        """Wait until the lease of this folder (a URI) is free. Raises Transient, StoreRefused, StoreFailed."""
        with self._waiting(folder, owner) as place:
            while True:
                async with place.trying:
                    lease = None if place.held else await self._try(folder, owner, place)
                    if lease is not None:
                        place.held, place.holder = True, owner
                        return lease
                released = place.released
                with anyio.move_on_after(self._times.look_seconds):
                    await released.wait()

    def holders(self) -> dict[str, str]:
        """Of those who wait now, by owner: who holds what they wait for; "" where that is not known yet."""
        return {owner: place.holder for owner, place in self._owners.items()}

    @contextmanager
    def _waiting(self, folder: str, owner: str) -> Iterator[_Place]:
        place = self._places.setdefault(folder, _Place())
        self._owners[owner] = place
        place.waiting += 1
        try:
            yield place
        finally:
            place.waiting -= 1
            self._owners.pop(owner, None)
            self._forget(folder, place)

    def _forget(self, folder: str, place: _Place) -> None:
        if not place.waiting and not place.held:
            self._places.pop(folder, None)

    async def _try(self, folder: str, owner: str, place: _Place) -> Lease | None:
        found = sorted([uri async for uri in self._blobs.list(folder)])
        newest = found[-1] if found else ""
        if newest and not await self._is_free(newest, owner, place):
            return None
        number = int(newest.rpartition("/")[2]) + 1 if newest else 1
        lease = Lease(self, folder, f"{folder}/{number:010}", _Held(self._engine, owner))
        if not await self._blobs.create(lease.uri, lease.data()):
            return None
        try:
            for uri in found:
                await self._blobs.delete(uri)
        except _TROUBLE as problem:
            log.info("old leases can't be cleared away", extra={"folder": folder, "cause": str(problem)})
        return lease

    async def _is_free(self, uri: str, owner: str, place: _Place) -> bool:
        data = await self._blobs.get(uri)
        try:
            holder = msgspec.msgpack.decode(data, type=_Held) if data else None
        except msgspec.DecodeError:
            holder = None
        if holder is None or holder.engine == self._engine or holder.owner == owner:
            return True
        place.holder = holder.owner
        if place.seen != (uri, data):
            place.seen, place.seen_at = (uri, data), anyio.current_time()
        return anyio.current_time() - place.seen_at >= self._times.expiry_seconds

    async def write(self, lease: Lease, data: bytes) -> None:
        try:
            await self._blobs.put(lease.uri, data)
        except _TROUBLE as problem:
            log.warning("a lease can't be written", extra={"uri": lease.uri, "cause": str(problem)})

    async def beat(self) -> None:
        await anyio.sleep(self._times.beat_seconds)

    def released(self, folder: str) -> None:
        place = self._places[folder]
        place.held = False
        place.released.set()
        place.released = anyio.Event()
        self._forget(folder, place)


class Lease:
    """A Reservation."""

    def __init__(self, leases: Leases, folder: str, uri: str, held: _Held) -> None:
        self._leases, self._folder, self.uri, self._held = leases, folder, uri, held

    def data(self) -> bytes:
        return msgspec.msgpack.encode(self._held)

    async def hold(self) -> None:
        while True:
            await self._leases.beat()
            self._held = msgspec.structs.replace(self._held, beat=self._held.beat + 1)
            await self._leases.write(self, self.data())

    async def release(self) -> None:
        try:
            await self._leases.write(self, FREE)
        finally:
            self._leases.released(self._folder)
