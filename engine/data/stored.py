"""Stored messages, read by ranges: where their parts lie, found by framing alone, in memory that stays small.

The values inside are skipped, not read: a reader jumps from header to header, one block at a time.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import AsyncIterator, Sequence

import anyio

from engine.data.framing import CorruptMessage, fields, text
from engine.data.literals import ENTRY, ITEM, KEY, VALUE, Held, Span
from engine.ports.blobstore import BlobStore

BLOCK = 256 * 1024
"""Bytes read at once."""

Field = tuple[int, int, int, int]


class Reader:
    """One stored object, read a block at a time. Keeps the last block, so that reads that follow each other are one."""

    def __init__(self, blobs: BlobStore, uri: str, head: bytes = b"") -> None:
        self.uri = uri
        self._blobs = blobs
        self._start, self._block = 0, memoryview(head)
        self._lock = anyio.Lock()

    async def read(self, start: int, end: int) -> memoryview:
        """The bytes from `start` up to `end`. Raises BlobNotFound, Transient; CorruptMessage where it ends before."""
        if not self._holds(start, end):
            async with self._lock:
                if not self._holds(start, end):
                    await self._load(start, end)
                return self._block[start - self._start : end - self._start]
        return self._block[start - self._start : end - self._start]

    def _holds(self, start: int, end: int) -> bool:
        return self._start <= start and end <= self._start + len(self._block)

    async def _load(self, start: int, end: int) -> None:
        block = await self._blobs.get(self.uri, start, max(end, start + BLOCK))
        if len(block) < end - start:
            raise CorruptMessage(f"{self.uri} ends at byte {start + len(block)}, its contents at byte {end}")
        self._start, self._block = start, memoryview(block)

    async def fields(self, start: int, end: int) -> AsyncIterator[Field]:
        """The fields of the message that lies between two bytes, as `framing.fields` gives them."""
        async for batch in self.field_batches(start, end):
            for field in batch:
                yield field

    async def field_batches(self, start: int, end: int) -> AsyncIterator[list[Field]]:
        """The same, a block's worth at once."""
        while start < end:
            block = await self.read(start, min(end, start + BLOCK))
            try:
                found = list(fields(block, beyond=end - start))
            except CorruptMessage as problem:
                raise CorruptMessage(f"{self.uri}, from byte {start} on: {problem}") from None
            yield [(tag, start + first, start + value, start + last) for tag, first, value, last in found]
            start += found[-1][3]


async def map_spans(reader: Reader, end: int, start: int = 0) -> dict[str, Span]:
    """Key -> where its literal lies, of a `LiteralMap` that is stored between two bytes. Raises CorruptMessage."""
    found = {}
    async for tag, first, value, last in reader.fields(start, end):
        if tag == ENTRY:
            key, spans = "", []
            async for inner, _, begin, stop in reader.fields(value, last):
                if inner == KEY:
                    key = text(await reader.read(begin, stop))
                elif inner == VALUE:
                    spans.append((begin, stop))
            if len(spans) > 1:
                raise CorruptMessage(f"{reader.uri}: the map entry at byte {first} has its value in pieces")
            found[key] = spans[0] if spans else (last, last)
    return found


async def held_spans(reader: Reader, start: int, end: int) -> Held:
    """What the `Literal` between two bytes holds, and where. Raises CorruptMessage."""
    found = Held()
    async for field in reader.fields(start, end):
        found.feed(*field)
    return found


class StoredList:
    """The items of a list literal in the store. Item k lies between `offsets[k]` and `offsets[k + 1]`, framed."""

    def __init__(self, reader: Reader, offsets: Sequence[int]) -> None:
        self._reader, self._offsets = reader, offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @property
    def weight(self) -> int:
        """Bytes of memory it takes."""
        return 8 * len(self._offsets) + BLOCK

    async def item(self, index: int) -> memoryview:
        """The literal of one item: one ranged read, or none where it lies in the block read last."""
        frame = await self._reader.read(self._offsets[index], self._offsets[index + 1])
        for tag, _, value, end in fields(frame):
            if tag == ITEM:
                return frame[value:end]
        raise CorruptMessage(f"{self._reader.uri} holds no list item at byte {self._offsets[index]}")


async def scan_list(reader: Reader, spans: Sequence[Span]) -> StoredList:
    """The items of a `LiteralCollection` that lies in these parts of an object: reads headers, remembers offsets."""
    offsets = array("Q")
    for start, end in spans:
        async for batch in reader.field_batches(start, end):
            offsets.extend(first for tag, first, _, _ in batch if tag == ITEM)
    offsets.append(spans[-1][1] if spans else 0)
    return StoredList(reader, offsets)


def packed(offsets: Sequence[int]) -> bytes:
    """Offsets as an index file holds them: 8 bytes each, little-endian."""
    return _little_endian(array("Q", offsets)).tobytes()


def unpacked(data: bytes) -> array[int]:
    """The contents of an index file. Raises ValueError when its length is odd."""
    offsets = array("Q")
    offsets.frombytes(data)
    return _little_endian(offsets)


def _little_endian(offsets: array[int]) -> array[int]:
    if sys.byteorder == "big":
        offsets.byteswap()
    return offsets
