"""The canonical JSON of a literal, hashed in pieces while it is made: a value of any size takes little memory."""

from __future__ import annotations

import base64
import codecs
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence

from anyio import to_thread
from flyteidl.core import literals_pb2, types_pb2
from google.protobuf.message import DecodeError

from engine.data import literaljson
from engine.data.framing import CorruptMessage
from engine.data.literals import ITEM, UNION, UNION_VALUE, Held, Kind, Span
from engine.data.references import may_hold_references, readable, reference_of, unreadable
from engine.data.stored import BLOCK, Field, Reader, held_spans, map_spans
from engine.model.errors import BlobNotFound
from engine.ports.blobstore import BlobStore

PIECE = 64 * 1024
"""Bytes; a literal of at most so many is made JSON at once."""
WORTH_A_THREAD = 8 * 1024
"""Bytes of literals whose JSON takes longer than a call of a thread."""
CHUNK = 384 * 1024
"""Bytes of one text or binary that are read at once; a multiple of 3, as base64 wants it."""
MAX_DEPTH = 64
"""Values inside values, references that lead to references included."""
_PRIMITIVE, _BINARY = 0x0A, 0x1A
"""Tags of a `Scalar`."""
_STRING = 0x1A
"""Tag of a `Primitive`."""
_BYTES, _TAG = 0x0A, 0x12
"""Tags of a `Binary`."""
_TYPE = 0x12
"""Tag of a `Union`, beside UNION_VALUE."""

Parts = dict[int, Span]
"""The fields of a message by their tags."""


class CanonicalHash:
    """Raises everywhere: CorruptMessage; Permanent (SYSTEM) where a reference leads nowhere; Transient."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._state = hashlib.sha256()

    def text(self) -> str:
        """SHA-256 in base64, of what was added."""
        return base64.b64encode(self._state.digest()).decode()

    async def add(self, reader: Reader, start: int, end: int, depth: int = 0) -> None:
        """Add the `Literal` that lies between two bytes."""
        if end - start <= PIECE:
            data = bytes(await reader.read(start, end))
            if not may_hold_references(data):
                await self._small(literaljson.of_literal, data)
                return
        if depth > MAX_DEPTH:
            raise unreadable(reader.uri, f"values lie inside each other, {MAX_DEPTH} deep or in a circle")
        found = await held_spans(reader, start, end)
        if found.kind is Kind.REFERENCE:
            await self._reference(reader, start, end, depth)
            return
        own, metadata = await beside(reader, found)
        if own:
            self._text(literaljson.dumped({"hash": own}))
        elif found.kind is Kind.COLLECTION:
            await self._collection(reader, found.spans, metadata, depth)
        elif found.kind is Kind.MAP:
            await self._map(reader, found.spans, metadata, depth)
        elif not await self._scalar(reader, found.spans, metadata, depth):
            await self._small(literaljson.of_literal, bytes(await reader.read(start, end)))

    def _text(self, text: str) -> None:
        self._state.update(text.encode())

    async def _small(self, make: Callable[[bytes], str], data: bytes) -> None:
        self._text(make(data) if len(data) < WORTH_A_THREAD else await to_thread.run_sync(make, data))

    async def _reference(self, reader: Reader, start: int, end: int, depth: int) -> None:
        reference = reference_of(await reader.read(start, end))
        assert reference is not None
        with readable(reference.uri):
            size = await self._blobs.size(reference.uri)
            if size is None:
                raise BlobNotFound(reference.uri)
            await self.add(Reader(self._blobs, reference.uri), 0, size, depth + 1)

    async def _collection(self, reader: Reader, spans: Sequence[Span], metadata: str, depth: int) -> None:
        self._text('{"collection":{')
        separator = '"literals":['
        for start, end in spans:
            async for batch in reader.field_batches(start, end):
                for items in _runs([field for field in batch if field[0] == ITEM]):
                    self._text(separator)
                    separator = ","
                    await self._items(reader, items, depth)
        closing = "]}" if separator == "," else "}"
        self._text(closing + _following(metadata) + "}")

    async def _items(self, reader: Reader, items: Sequence[Field], depth: int) -> None:
        if len(items) > 1:
            data = bytes(await reader.read(items[0][1], items[-1][3]))
            if not may_hold_references(data):
                await self._small(literaljson.of_items, data)
                return
        for number, (_, _, start, end) in enumerate(items):
            self._text("," if number else "")
            await self.add(reader, start, end, depth + 1)

    async def _map(self, reader: Reader, spans: Sequence[Span], metadata: str, depth: int) -> None:
        entries: dict[str, Span] = {}
        for start, end in spans:
            entries |= await map_spans(reader, end, start)
        self._text('{"map":{')
        separator = '"literals":{'
        for key in sorted(entries):
            self._text(f"{separator}{literaljson.dumped(key)}:")
            separator = ","
            await self.add(reader, *entries[key], depth + 1)
        closing = "}}" if entries else "}"
        self._text(closing + _following(metadata) + "}")

    async def _scalar(self, reader: Reader, spans: Sequence[Span], metadata: str, depth: int) -> bool:
        """A text, a binary or a union, in pieces; False, with nothing added, for any other scalar."""
        scalar = await _parts(reader, spans)
        if len(scalar) != 1:
            return False
        ((tag, span),) = scalar.items()
        parts = await _parts(reader, [span])
        preceding = f'"metadata":{metadata},' if metadata else ""
        opening = f'{{{preceding}"scalar":{{'
        match tag:
            case _ if tag == _PRIMITIVE and parts.keys() == {_STRING}:
                self._text(f'{opening}"primitive":{{"stringValue":"')
                await self._string(reader, *parts[_STRING])
                self._text('"}}}')
            case _ if tag == _BINARY and _BYTES in parts and parts.keys() <= {_BYTES, _TAG}:
                name = str(await reader.read(*parts[_TAG]), "utf-8") if _TAG in parts else ""
                tagged = f'"tag":{literaljson.dumped(name)},' if name else ""
                self._text(f'{opening}"binary":{{{tagged}"value":"')
                await self._bytes(reader, *parts[_BYTES])
                self._text('"}}}')
            case _ if tag == UNION and UNION_VALUE in parts and parts.keys() <= {UNION_VALUE, _TYPE}:
                kind = await _type(reader, parts[_TYPE]) if _TYPE in parts else ""
                typed = f'"type":{kind},' if kind else ""
                self._text(f'{opening}"union":{{{typed}"value":')
                await self.add(reader, *parts[UNION_VALUE], depth + 1)
                self._text("}}}")
            case _:
                return False
        return True

    async def _string(self, reader: Reader, start: int, end: int) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            async for piece in _pieces(reader, start, end):
                self._text(literaljson.escaped(decoder.decode(piece)))
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as problem:
            raise CorruptMessage(f"{reader.uri}: a text is not UTF-8: {problem.reason}") from None

    async def _bytes(self, reader: Reader, start: int, end: int) -> None:
        async for piece in _pieces(reader, start, end):
            self._state.update(base64.b64encode(piece))


async def beside(reader: Reader, found: Held) -> tuple[str, str]:
    """The hash that stands beside a value ("" = none), and its metadata as JSON ("" = none)."""
    data = b"".join([bytes(await reader.read(start, end)) for start, end in found.beside])
    try:
        literal = literals_pb2.Literal.FromString(data)
    except DecodeError as problem:
        raise CorruptMessage(f"{reader.uri}: a literal's hash can't be read: {problem}") from problem
    return literal.hash, literaljson.dumped(dict(literal.metadata)) if literal.metadata else ""


def _following(metadata: str) -> str:
    return f',"metadata":{metadata}' if metadata else ""


def _runs(items: Sequence[Field]) -> list[Sequence[Field]]:
    """Items of one block; the last one may be large and reach far beyond it, and then it stands alone."""
    if len(items) > 1 and items[-1][3] - items[0][1] > 2 * BLOCK:
        return [items[:-1], items[-1:]]
    return [items] if items else []


async def _parts(reader: Reader, spans: Sequence[Span]) -> Parts:
    """The fields of a message; none at all where one stands there twice, which only an odd writer does."""
    found: Parts = {}
    for start, end in spans:
        async for tag, _, value, last in reader.fields(start, end):
            if tag in found:
                return {}
            found[tag] = (value, last)
    return found


async def _type(reader: Reader, span: Span) -> str:
    try:
        return literaljson.of_message(types_pb2.LiteralType.FromString(bytes(await reader.read(*span))))
    except DecodeError as problem:
        raise CorruptMessage(f"{reader.uri}: a union's type can't be read: {problem}") from problem


async def _pieces(reader: Reader, start: int, end: int) -> AsyncIterator[memoryview]:
    while start < end:
        piece = await reader.read(start, min(end, start + CHUNK))
        yield piece
        start += len(piece)
