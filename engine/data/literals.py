"""flyteidl values as framed bytes: the entries of a `LiteralMap`, the shape of a `Literal`, and building both.

A `Literal` holds one of scalar, collection, map and offloaded_metadata, and beside it a hash and metadata.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum

from msgspec import Struct

from engine.data.framing import CorruptMessage, Data, fields, framed, framed_size, header, text

ITEM = ENTRY = KEY = UNION_VALUE = 0x0A
"""Tags: literals of a collection; entries of a map; an entry's key; the value of a `Union`."""
VALUE = 0x12
"""Tag: an entry's value."""
UNION = 0x4A
"""Tag: the union of a `Scalar`."""


class Kind(IntEnum):
    """What a `Literal` holds, by the tag of its field."""

    NOTHING = 0
    SCALAR = 0x0A
    COLLECTION = 0x12
    MAP = 0x1A
    REFERENCE = 0x42


_KINDS = {kind.value: kind for kind in Kind if kind}

NONE = bytes.fromhex("0a022a00")
"""The `Literal` of None: a bare none_type scalar."""
EMPTY_LIST = bytes((Kind.COLLECTION, 0))
"""A list that is set and has no items, which is not the same as a `Literal` that holds nothing."""


class Shape(Struct, frozen=True):
    """What a `Literal` holds, and its bytes: the payload of that field, its occurrences joined."""

    kind: Kind
    payload: Data


Span = tuple[int, int]
"""Where bytes lie: from, up to (exclusive)."""


class Held:
    """Finds what a `Literal` holds from its fields, fed one by one: the last kind wins, its occurrences merge."""

    def __init__(self) -> None:
        self.kind = Kind.NOTHING
        self.spans: list[Span] = []
        self.beside: list[Span] = []
        """Fields that stand beside the value (hash, metadata), headers included."""

    def feed(self, tag: int, first: int, value: int, end: int) -> None:
        kind = _KINDS.get(tag)
        if kind is None:
            self.beside.append((first, end))
        elif kind is self.kind:
            self.spans.append((value, end))
        else:
            self.kind, self.spans = kind, [(value, end)]


def held(literal: Data) -> Held:
    """What a serialized `Literal` holds and where, without parsing its value. Raises CorruptMessage."""
    found = Held()
    for field in fields(literal):
        found.feed(*field)
    return found


def shape(literal: Data) -> Shape:
    """The same, as bytes. Raises CorruptMessage."""
    found = held(literal)
    return Shape(found.kind, _joined([literal[start:end] for start, end in found.spans]))


def items(payload: Data) -> list[Data]:
    """The literals of a `LiteralCollection`. Raises CorruptMessage."""
    return [payload[value:end] for tag, _, value, end in fields(payload) if tag == ITEM]


def entries(payload: Data) -> dict[str, Data]:
    """Key -> literal of a `LiteralMap`; the last entry of a key wins. Raises CorruptMessage."""
    if len(payload) <= _SMALL and (small := _small_entries(payload)) is not None:
        return small
    found = {}
    for tag, at, value, end in fields(payload):
        if tag == ENTRY:
            key, parts = "", []
            for inner, _, first, last in fields(payload, value, end):
                if inner == KEY:
                    key = text(payload[first:last])
                elif inner == VALUE:
                    parts.append(payload[first:last])
                else:
                    raise CorruptMessage(f"the map entry at byte {at} holds something that is neither key nor value")
            found[key] = _joined(parts)
    return found


def literal_span(data: memoryview, size: int, name: str) -> Span | None:
    """Where a `LiteralMap` of `size` bytes, which begins with `data`, holds the literal of a key.

    None where that can't be seen in its beginning: what is odd about it `entries` says of the whole.
    """
    span, at = None, 0
    try:
        for tag, _, value, at in fields(data, beyond=size):
            if tag != ENTRY:
                return None
            key, found, last = "", [], value
            for inner, _, first, last in fields(data, value, min(at, len(data)), beyond=at):
                if inner == KEY and last <= len(data):
                    key = text(data[first:last])
                elif inner == VALUE:
                    found.append((first, last))
                else:
                    return None
            if last != at or len(found) != 1:
                return None
            if key == name:
                (span,) = found
    except CorruptMessage:
        return None
    return span if at == size else None


_SMALL = 1024


def _small_entries(payload: Data) -> dict[str, Data] | None:
    """The same where every entry is a key and then a value, each shorter than 128 bytes; else None: look closely."""
    found: dict[str, Data] = {}
    at, end = 0, len(payload)
    try:
        while at < end:
            key_end = at + 4 + payload[at + 3]
            stop = key_end + 2 + payload[key_end + 1]
            tags = payload[at], payload[at + 2], payload[key_end]
            lengths = payload[at + 1], payload[at + 3], payload[key_end + 1]
            if tags != (ENTRY, KEY, VALUE) or max(lengths) > 127 or at + 2 + lengths[0] != stop or stop > end:
                return None
            found[text(payload[at + 4 : key_end])] = payload[key_end + 2 : stop]
            at = stop
    except IndexError:
        return None
    return found


def unwrapped(literal: Data) -> Data:
    """The value inside a union literal, however deep; any other literal as it is."""
    while (inner := union_value(literal)) is not None:
        literal = inner
    return literal


def union_value(literal: Data) -> Data | None:
    """The value of a union literal, or None for any other literal."""
    union = union_payload(literal)
    if union is None:
        return None
    return _joined([union[value:end] for tag, _, value, end in fields(union) if tag == UNION_VALUE])


def union_payload(literal: Data) -> Data | None:
    """The `Union` that a literal holds (value and type), or None for any other literal."""
    whole = shape(literal)
    if whole.kind is not Kind.SCALAR:
        return None
    parts: list[Data] | None = None
    for tag, _, value, end in fields(whole.payload):
        if tag == UNION:
            parts = [*(parts or []), whole.payload[value:end]]
        elif tag in _SCALARS:
            parts = None
    return None if parts is None else _joined(parts)


_SCALARS = {number * 8 + 2 for number in range(1, 9)}
"""Tags of what a `Scalar` may hold instead of a union."""


def literal_map(values: Mapping[str, Data]) -> bytes:
    """A serialized `LiteralMap`, keys sorted, as protobuf writes it deterministically."""
    return b"".join(entry(key, values[key]) for key in sorted(values))


def entry(key: str, literal: Data) -> bytes:
    """One entry of a map, framed."""
    return b"".join((entry_header(key, len(literal)), literal))


def entry_header(key: str, length: int) -> bytes:
    """Everything of a map's entry that stands before a literal of `length` bytes."""
    name = framed(KEY, key.encode())
    return b"".join((header(ENTRY, len(name) + framed_size(length)), name, header(VALUE, length)))


def collection(literals: Iterable[Data]) -> bytes:
    """A list `Literal`."""
    return framed(Kind.COLLECTION, b"".join(framed(ITEM, literal) for literal in literals))


def map_literal(values: Mapping[str, Data]) -> bytes:
    """A map `Literal`."""
    return framed(Kind.MAP, literal_map(values))


def _joined(parts: list[Data]) -> Data:
    """Occurrences of a sub-message merge, and serialized messages merge by concatenation."""
    return parts[0] if len(parts) == 1 else b"".join(parts)
