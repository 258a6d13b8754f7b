"""Offloaded literals: a reference stands in a value's place, the value itself is a stored `Literal`.

A reference may stand anywhere in a value but inside a union: flytekit can't read it there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from flyteidl.core import literals_pb2, types_pb2
from google.protobuf.message import DecodeError
from msgspec import Struct

from engine.data.framing import CorruptMessage, Data
from engine.data.literals import Kind, entries, held, items, shape, union_value, unwrapped
from engine.data.stored import Reader, StoredList, held_spans, scan_list, unpacked
from engine.model.errors import BlobNotFound, ErrorKind, Failure, Permanent, StoreRefused
from engine.ports.blobstore import BlobStore

OFFLOADED_SUFFIX = "_offloaded_metadata.pb"
INDEX_SUFFIX = "_offloaded_index.bin"
"""Beside an offloaded list that the engine wrote: for each item the offset of its frame, and last the file's size."""
MAX_CHAIN = 16
"""References that may lead to each other before it is called a loop."""

_LENGTH = rb"[\x80-\xff]{0,4}[\x00-\x7f]"
_MAY_BE_A_REFERENCE = re.compile(rb"\x42" + _LENGTH + rb"\x0a" + _LENGTH + rb"(?:/|[A-Za-z][A-Za-z0-9+.\-]{0,30}:)")
"""The field of an offloaded literal, whose first field is a URI or an absolute path: every reference begins so."""
LONGEST_BEGINNING = 64
"""Bytes; more than what the pattern above can match."""


class Reference(Struct, frozen=True):
    uri: str
    size_bytes: int
    inferred_type: bytes = b""
    """Serialized `LiteralType`; empty where it is not said."""


def reference_of(literal: Data) -> Reference | None:
    """The reference that a `Literal` is, or None. Raises CorruptMessage."""
    found = shape(literal)
    return _parsed(found.payload) if found.kind is Kind.REFERENCE else None


def _parsed(payload: Data) -> Reference:
    try:
        message = literals_pb2.LiteralOffloadedMetadata.FromString(bytes(payload))
    except DecodeError as problem:
        raise CorruptMessage(f"an offloaded literal's reference can't be read: {problem}") from None
    said = message.inferred_type.SerializeToString() if message.HasField("inferred_type") else b""
    return Reference(message.uri, message.size_bytes, said)


def reference_literal(reference: Reference, content_hash: str = "") -> bytes:
    """The `Literal` that stands in the value's place. `content_hash`: what its author says names the value."""
    literal = literals_pb2.Literal(
        offloaded_metadata=literals_pb2.LiteralOffloadedMetadata(
            uri=reference.uri,
            size_bytes=reference.size_bytes,
            inferred_type=types_pb2.LiteralType.FromString(reference.inferred_type),
        ),
        hash=content_hash,
    )
    return bytes(literal.SerializeToString(deterministic=True))


def may_hold_references(data: Data) -> bool:
    """False when these bytes certainly hold no reference; costs a search, not a walk."""
    return _MAY_BE_A_REFERENCE.search(data) is not None


def find_references(inputs: Data) -> list[Reference]:
    """Every reference in a `LiteralMap`, at any depth. Raises CorruptMessage."""
    if not may_hold_references(inputs):
        return []
    return [found for literal in entries(inputs).values() for found in walk_references(literal)]


def walk_references(literal: Data) -> Iterator[Reference]:
    """Every reference in a `Literal`, at any depth, itself included. Raises CorruptMessage."""
    left = [literal]
    while left:
        literal = left.pop()
        if not may_hold_references(literal):
            continue
        found = shape(literal)
        if found.kind is Kind.REFERENCE:
            yield _parsed(found.payload)
        elif found.kind is Kind.COLLECTION:
            left += reversed(items(found.payload))
        elif found.kind is Kind.MAP:
            left += entries(found.payload).values()
        elif (inner := union_value(literal)) is not None:
            left.append(inner)


def lifted(literal: Data) -> Data:
    """A reference that is a union's value comes out of the union; anything else, broken bytes too, stays as it is."""
    if not may_hold_references(literal):
        return literal
    try:
        inner = unwrapped(literal)
        return inner if inner is not literal and held(inner).kind is Kind.REFERENCE else literal
    except CorruptMessage:
        return literal


async def read_reference(blobs: BlobStore, reference: Reference) -> bytes:
    """The whole `Literal` that a reference stands for. Raises Permanent (SYSTEM) when it is not there; Transient."""
    for _ in range(MAX_CHAIN):
        with readable(reference.uri):
            literal = await blobs.get(reference.uri)
            following = reference_of(literal)
        if following is None:
            return literal
        reference = following
    raise unreadable(reference.uri, f"{MAX_CHAIN} references lead to each other")


async def open_list(blobs: BlobStore, reference: Reference) -> StoredList | None:
    """The items of an offloaded list, by its index or else by one scan; None when it holds no list.

    Raises Permanent (SYSTEM) when the value is not there or broken; Transient.
    """
    for _ in range(MAX_CHAIN):
        with readable(reference.uri):
            size = await blobs.size(reference.uri)
            if size is None:
                raise BlobNotFound(reference.uri)
            reader = Reader(blobs, reference.uri)
            indexed = await _by_index(blobs, reader, size)
            if indexed is not None:
                return indexed
            found = await held_spans(reader, 0, size)
            if found.kind is Kind.COLLECTION:
                return await scan_list(reader, found.spans)
            if found.kind is not Kind.REFERENCE:
                return None
            following = reference_of(await reader.read(0, size))
            assert following is not None
        reference = following
    raise unreadable(reference.uri, f"{MAX_CHAIN} references lead to each other")


def index_uri(uri: str) -> str | None:
    """Where the index of an offloaded list lies, if the engine wrote the list."""
    return uri.removesuffix(OFFLOADED_SUFFIX) + INDEX_SUFFIX if uri.endswith(OFFLOADED_SUFFIX) else None


async def _by_index(blobs: BlobStore, reader: Reader, size: int) -> StoredList | None:
    uri = index_uri(reader.uri)
    data = (await blobs.get_many([uri]))[0] if uri else None
    if not data or len(data) % 8:
        return None
    offsets = unpacked(data)
    return StoredList(reader, offsets) if offsets[-1] == size else None


@contextmanager
def readable(uri: str) -> Iterator[None]:
    """Whatever is wrong with the object of a reference is a verdict on the node that needs it."""
    try:
        yield
    except (BlobNotFound, StoreRefused, CorruptMessage) as problem:
        raise unreadable(uri, str(problem)) from problem


def unreadable(uri: str, reason: str) -> Permanent:
    message = f"the offloaded value at {uri} could not be read: {reason}"
    return Permanent(Failure(code="RuntimeExecutionError", kind=ErrorKind.SYSTEM, message=message))
