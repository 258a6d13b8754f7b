"""Small maps that were just written or judged: the nodes that follow read them from here, and not from the store."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from engine.data.shelf import Shelf
from engine.ports.blobstore import BlobStore

SMALL = 64 * 1024
"""Bytes; what is larger is read again."""
_OVERHEAD = 300
"""Bytes that an entry takes beside its data, roughly."""


class _Map(Struct, frozen=True):
    data: bytes

    @property
    def weight(self) -> int:
        return len(self.data) + _OVERHEAD


_shelf: Shelf[_Map] = Shelf(most_bytes=8 * 1024 * 1024)


def remember(blobs: BlobStore, uri: str, data: bytes) -> None:
    """This is what the object holds from now on."""
    if len(data) <= SMALL:
        _shelf.put(blobs, uri, _Map(data))
    else:
        _shelf.drop(blobs, uri)


async def read_maps(blobs: BlobStore, uris: Sequence[str]) -> dict[str, bytes | None]:
    """The objects by URI, None where there is none; those that are not remembered are read together."""
    known = {uri: found.data for uri in uris if (found := _shelf.find(blobs, uri)) is not None}
    missing = [uri for uri in uris if uri not in known]
    read = await blobs.get_many(missing) if missing else []
    return {**known, **dict(zip(missing, read, strict=True))}
