"""References that lead nowhere, found in stored values of any size without holding one in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

from engine.data.framing import CorruptMessage
from engine.data.literals import ITEM, Kind
from engine.data.references import LONGEST_BEGINNING, Reference, find_references, may_hold_references, walk_references
from engine.data.stored import Reader, held_spans, map_spans
from engine.model.errors import BlobNotFound, StoreRefused
from engine.ports.blobstore import BlobStore

CHUNK = 1024 * 1024
"""Bytes read at once, and the largest value that is looked at as a whole."""


class Dangling:
    """Remembers the objects it has found in order, so that a value that many nodes pass on is looked at once."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._seen: set[str] = set()

    async def problems(self, uri: str) -> list[str]:
        """What is wrong with a stored `LiteralMap` and all that its references lead to. Raises Transient."""
        found: list[str] = []
        waiting: list[tuple[str, Reference | None]] = [(uri, None)]
        while waiting:
            current, reference = waiting.pop()
            if current in self._seen:
                continue
            try:
                size = await self._blobs.size(current)
                if size is None:
                    raise BlobNotFound(current)
                if reference is not None and size < reference.size_bytes:
                    found.append(f"{current} has {size} bytes, the reference to it says {reference.size_bytes}")
                async for following in self._references(current, size, whole_map=reference is None):
                    waiting.append((following.uri, following))
            except (BlobNotFound, StoreRefused, CorruptMessage) as problem:
                found.append(str(problem))
            else:
                self._seen.add(current)
        return found

    async def _references(self, uri: str, size: int, *, whole_map: bool) -> AsyncIterator[Reference]:
        if size <= CHUNK:
            data = await self._blobs.get(uri)
            for reference in find_references(data) if whole_map else walk_references(data):
                yield reference
        elif await self._may_hold_references(uri, size):
            reader = Reader(self._blobs, uri)
            spans = (await map_spans(reader, size)).values() if whole_map else [(0, size)]
            for start, end in spans:
                async for reference in _walk(reader, start, end):
                    yield reference

    async def _may_hold_references(self, uri: str, size: int) -> bool:
        for start in range(0, size, CHUNK):
            if may_hold_references(await self._blobs.get(uri, start, start + CHUNK + LONGEST_BEGINNING)):
                return True
        return False


async def _walk(reader: Reader, start: int, end: int) -> AsyncIterator[Reference]:
    """The references in the `Literal` between two bytes. Only a scalar is ever read as a whole."""
    found = await held_spans(reader, start, end) if end - start > CHUNK else None
    if found is None or found.kind not in (Kind.COLLECTION, Kind.MAP):
        for reference in walk_references(await reader.read(start, end)):
            yield reference
        return
    for first, last in found.spans:
        if found.kind is Kind.MAP:
            for span in (await map_spans(reader, last, first)).values():
                async for reference in _walk(reader, *span):
                    yield reference
            continue
        async for tag, _, value, stop in reader.fields(first, last):
            if tag == ITEM:
                async for reference in _walk(reader, value, stop):
                    yield reference
