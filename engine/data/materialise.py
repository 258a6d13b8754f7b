"""Putting referenced values back in their place, streamed: the bytes of a stored value are copied, not parsed.

Every message around a replaced value gets a new length, so the sizes are gathered first, as a rope of bytes and ranges.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from engine.data.framing import Data, fields, header
from engine.data.literals import (
    ENTRY,
    ITEM,
    KEY,
    UNION,
    UNION_VALUE,
    VALUE,
    Kind,
    entries,
    held,
    items,
    shape,
    union_payload,
)
from engine.data.references import LONGEST_BEGINNING, Reference, may_hold_references, readable, reference_of, unreadable
from engine.model.errors import BlobNotFound, Transient
from engine.ports.blobstore import BlobStore

CHUNK = 1024 * 1024
MAX_DEPTH = 64
"""Values inside values, references that lead to references included."""


class TooMuch(Exception):
    """The values take more bytes than may be put inline."""


class Range(Struct, frozen=True):
    """Bytes 0 to `size` of a stored object."""

    uri: str
    size: int


class Rope(Struct, frozen=True):
    """Bytes that are put together when they are written."""

    size: int
    parts: tuple[Data | Range, ...]


async def expanded(blobs: BlobStore, inputs: Data, most: int) -> Rope:
    """A `LiteralMap` with every reference at any depth replaced by its value.

    Raises TooMuch above `most` bytes of values; Permanent (SYSTEM) where a reference leads nowhere or in a circle;
    Transient.
    """
    return await _Expansion(blobs, most).map_payload(inputs, 0)


async def expanded_literal(blobs: BlobStore, literal: Data, most: int) -> Rope:
    """The same for one `Literal`, without what references say of their values' hashes: the values alone."""
    return await _Expansion(blobs, most, hashes=False).literal(literal, 0)


async def inlined(blobs: BlobStore, inputs: Data, most: int) -> bytes:
    """The same in memory. Raises as `expanded`."""
    if not may_hold_references(inputs):
        return bytes(inputs)
    rope = await expanded(blobs, inputs, most)
    parts = [await blobs.get(part.uri) if isinstance(part, Range) else part for part in rope.parts]
    return b"".join(parts)


async def write(blobs: BlobStore, rope: Rope, uri: str) -> None:
    """Stream a rope into an object."""
    async with blobs.writer(uri) as file:
        waiting: list[Data] = []
        for part in rope.parts:
            if not isinstance(part, Range):
                waiting.append(part)
                continue
            await file.write(b"".join(waiting))
            waiting = []
            start = 0
            while start < part.size:
                piece = await blobs.get(part.uri, start, min(part.size, start + CHUNK))
                if not piece:
                    raise Transient(f"{part.uri} became shorter while it was read")
                await file.write(piece)
                start += len(piece)
        await file.write(b"".join(waiting))


class _Expansion:
    def __init__(self, blobs: BlobStore, most: int, *, hashes: bool = True) -> None:
        self.blobs, self.most, self.used, self.hashes = blobs, most, 0, hashes

    async def map_payload(self, payload: Data, depth: int) -> Rope:
        found = []
        for key, literal in entries(payload).items():
            name = key.encode()
            value = await self.literal(literal, depth + 1)
            found.append(_framed(ENTRY, _joined([_bytes(header(KEY, len(name)) + name), _framed(VALUE, value)])))
        return _joined(found)

    async def literal(self, literal: Data, depth: int) -> Rope:
        if not may_hold_references(literal):
            return _bytes(literal)
        whole = shape(literal)
        if whole.kind is Kind.REFERENCE:
            reference = reference_of(literal)
            assert reference is not None
            inner = await self._fetched(reference, depth)
            if not self.hashes:
                return inner
        elif whole.kind is Kind.COLLECTION:
            found = [_framed(ITEM, await self.literal(item, depth + 1)) for item in items(whole.payload)]
            inner = _framed(Kind.COLLECTION, _joined(found))
        elif whole.kind is Kind.MAP:
            inner = _framed(Kind.MAP, await self.map_payload(whole.payload, depth + 1))
        elif (union := union_payload(literal)) is not None:
            inner = _framed(Kind.SCALAR, _framed(UNION, await self._union(union, depth)))
        else:
            return _bytes(literal)
        return _joined([inner, _bytes(b"".join(literal[start:end] for start, end in held(literal).beside))])

    async def _union(self, union: Data, depth: int) -> Rope:
        parts = []
        for tag, first, value, end in fields(union):
            if tag == UNION_VALUE:
                parts.append(_framed(UNION_VALUE, await self.literal(union[value:end], depth + 1)))
            else:
                parts.append(_bytes(union[first:end]))
        return _joined(parts)

    async def _fetched(self, reference: Reference, depth: int) -> Rope:
        uri = reference.uri
        if depth > MAX_DEPTH:
            raise unreadable(uri, f"values lie inside each other, {MAX_DEPTH} deep or in a circle")
        with readable(uri):
            size = await self.blobs.size(uri)
            if size is None:
                raise BlobNotFound(uri)
            self.used += size
            if self.used > self.most:
                raise TooMuch(f"{self.used} bytes or more, offloading.materialise_max is {self.most} bytes")
            if await self._holds_values_only(uri, size):
                return Rope(size, (Range(uri, size),))
            return await self.literal(await self.blobs.get(uri), depth + 1)

    async def _holds_values_only(self, uri: str, size: int) -> bool:
        """Whether a stored value certainly holds no reference of its own."""
        for start in range(0, size, CHUNK):
            if may_hold_references(await self.blobs.get(uri, start, start + CHUNK + LONGEST_BEGINNING)):
                return False
        return True


def _bytes(data: Data) -> Rope:
    return Rope(len(data), (data,))


def _joined(ropes: Iterable[Rope]) -> Rope:
    parts: list[Data | Range] = []
    for rope in ropes:
        parts += rope.parts
    return Rope(sum(part.size if isinstance(part, Range) else len(part) for part in parts), tuple(parts))


def _framed(tag: int, rope: Rope) -> Rope:
    return Rope(len(start := header(tag, rope.size)) + rope.size, (start, *rope.parts))
