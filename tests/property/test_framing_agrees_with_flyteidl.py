"""Our framing and flyteidl's own parser read the same bytes the same way."""

from __future__ import annotations

from contextlib import suppress

import pytest
from flyteidl.core import literals_pb2
from google.protobuf.message import DecodeError
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.data.framing import CorruptMessage, fields, framed, framed_size, varint, varint_size
from engine.data.literals import Kind, collection, entries, items, literal_map, shape, union_value, unwrapped
from tests.property.values import literals, mangled

GROUP_TYPES = (3, 4)


def parsed(data: bytes) -> literals_pb2.Literal | None:
    try:
        return literals_pb2.Literal.FromString(data)
    except DecodeError:
        return None


def parsed_map(data: bytes) -> literals_pb2.LiteralMap | None:
    try:
        return literals_pb2.LiteralMap.FromString(data)
    except DecodeError:
        return None


def reads_as(ours: bytes | memoryview, theirs: literals_pb2.Literal) -> bool:
    found = parsed(bytes(ours))
    return found is not None and canonical(found) == canonical(theirs)


def canonical(literal: literals_pb2.Literal) -> bytes:
    return bytes(literal.SerializeToString(deterministic=True))


@given(st.integers(0, 2**63))
def test_a_varint_has_the_size_that_is_said(number: int) -> None:
    assert len(varint(number)) == varint_size(number)


@given(st.binary(max_size=300))
def test_a_framed_field_is_read_back(payload: bytes) -> None:
    whole = framed(0x0A, payload)
    assert len(whole) == framed_size(len(payload))
    assert [(tag, whole[start:end]) for tag, _, start, end in fields(whole)] == [(0x0A, payload)]


@given(st.dictionaries(st.text(max_size=4), literals, max_size=4))
def test_a_map_is_built_as_flyteidl_reads_it(values: dict[str, literals_pb2.Literal]) -> None:
    ours = literal_map({key: canonical(value) for key, value in values.items()})
    assert literals_pb2.LiteralMap.FromString(ours) == literals_pb2.LiteralMap(literals=values)
    assert {key: bytes(value) for key, value in entries(ours).items()} == {
        key: canonical(value) for key, value in values.items()
    }


@given(st.lists(literals, max_size=5))
def test_a_list_is_built_as_flyteidl_writes_it(values: list[literals_pb2.Literal]) -> None:
    theirs = literals_pb2.Literal(collection=literals_pb2.LiteralCollection(literals=values))
    ours = collection(canonical(value) for value in values)
    assert ours == canonical(theirs)
    found = shape(ours)
    assert found.kind is Kind.COLLECTION
    assert [bytes(item) for item in items(found.payload)] == [canonical(value) for value in values]


@settings(max_examples=500)
@given(mangled(literals))
def test_whatever_flyteidl_reads_as_a_literal_we_read_alike(data: bytes) -> None:
    theirs = parsed(data)
    try:
        ours = shape(data)
    except CorruptMessage:
        assert theirs is None or uses_groups(data)
        return
    if theirs is None:
        return
    held = theirs.WhichOneof("value")
    assert ours.kind.name == {None: "NOTHING", "offloaded_metadata": "REFERENCE"}.get(held, (held or "").upper())
    if ours.kind is Kind.COLLECTION:
        found = items(ours.payload)
        assert len(found) == len(theirs.collection.literals)
        assert all(reads_as(mine, its) for mine, its in zip(found, theirs.collection.literals, strict=True))
    if ours.kind is Kind.MAP:
        assert_same_entries(ours.payload, theirs.map)
    if ours.kind is Kind.SCALAR:
        inner = union_value(data)
        assert (inner is not None) == (theirs.scalar.WhichOneof("value") == "union")
        if inner is not None:
            assert reads_as(inner, theirs.scalar.union.value)


@settings(max_examples=500)
@given(
    mangled(
        st.dictionaries(st.text(max_size=3), literals, max_size=3).map(lambda it: literals_pb2.LiteralMap(literals=it))
    )
)
def test_whatever_flyteidl_reads_as_a_map_we_read_alike(data: bytes) -> None:
    theirs = parsed_map(data)
    try:
        entries(data)
    except CorruptMessage:
        assert theirs is None or uses_groups(data) or holds_unknown(theirs)
        return
    if theirs is not None:
        assert_same_entries(data, theirs)


@given(st.binary(max_size=80))
@example(b"\x80" * 20)
@example(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f")
def test_random_bytes_end_in_a_reading_or_in_a_reason(data: bytes) -> None:
    for read in (shape, entries, items, unwrapped):
        with suppress(CorruptMessage):
            read(data)


@given(st.lists(literals, min_size=1, max_size=3), st.data())
def test_a_cut_list_is_corrupt_or_shorter_by_whole_items_never_wrong(
    values: list[literals_pb2.Literal], data: st.DataObject
) -> None:
    payload = shape(collection(canonical(value) for value in values)).payload
    cut = data.draw(st.integers(0, len(payload) - 1))
    whole = [bytes(item) for item in items(payload)]
    try:
        found = [bytes(item) for item in items(bytes(payload)[:cut])]
    except CorruptMessage:
        return
    assert found == whole[: len(found)]


def assert_same_entries(ours: bytes | memoryview, theirs: literals_pb2.LiteralMap) -> None:
    try:
        found = entries(ours)
    except CorruptMessage:
        assert holds_unknown(theirs)
        return
    assert found.keys() == theirs.literals.keys()
    assert all(reads_as(found[key], theirs.literals[key]) for key in found)


def holds_unknown(theirs: literals_pb2.LiteralMap) -> bool:
    """upb drops a map entry that has a third field, other parsers keep it; we refuse it."""
    known = literals_pb2.LiteralMap()
    known.CopyFrom(theirs)
    known.DiscardUnknownFields()
    return bool(known.ByteSize() != theirs.ByteSize())


def uses_groups(data: bytes) -> bool:
    """Protobuf skips unknown groups; we refuse them. Any byte of that wire type may start one."""
    return any(byte & 7 in GROUP_TYPES for byte in data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x0a\x05abc", "the field at byte 0 says 5 bytes, 3 are left"),
        (b"\x0a", "cut off in the field that starts at byte 0"),
        (b"\x02\x00", "byte 0 starts a field with an impossible number"),
        (b"\x0b", "the field at byte 0 has wire type 3, which Flyte does not use"),
        (b"\x08" + b"\xff" * 11, "the number at byte 1 has no end"),
        (b"\x0a\x03\x0a\x01\xff", "a text is not UTF-8: invalid start byte at byte 0 of it"),
    ],
)
def test_the_reason_says_where(data: bytes, reason: str) -> None:
    with pytest.raises(CorruptMessage) as problem:
        entries(data)
    assert str(problem.value) == reason
