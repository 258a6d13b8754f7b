"""The beginning of a map tells where a literal lies as the whole map does, or says that it can't tell."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.data.framing import framed
from engine.data.literals import ENTRY, KEY, VALUE, entries, literal_span
from tests.dataplane import literal_map, serialized
from tests.property.values import literals

maps = st.dictionaries(st.sampled_from(["a", "b", "oo"]), literals, max_size=3)
ENTRY_A, ENTRY_B = serialized(a="x" * 200), serialized(b=1)


@given(maps, st.integers(0, 400))
async def test_the_beginning_never_tells_anything_else(values: dict[str, object], cut: int) -> None:
    whole = bytes(literal_map(values).SerializeToString())
    span = literal_span(memoryview(whole)[:cut], len(whole), "a")
    if span is not None:
        assert whole[slice(*span)] == entries(whole)["a"]
    elif cut >= len(whole):
        assert "a" not in values


@given(st.binary(max_size=60), st.integers(0, 60))
async def test_bytes_that_are_no_map_are_left_to_whoever_reads_the_whole(data: bytes, cut: int) -> None:
    span = literal_span(memoryview(data)[:cut], len(data), "")
    if span is not None:
        assert data[slice(*span)] == entries(data)[""]


async def test_the_header_is_enough_where_there_is_nothing_behind_the_literal() -> None:
    assert literal_span(memoryview(ENTRY_A)[:20], len(ENTRY_A), "a") == (len(ENTRY_A) - len(ENTRY_A[9:]), len(ENTRY_A))


async def test_what_lies_behind_a_literal_has_to_be_seen() -> None:
    data = ENTRY_A + ENTRY_B
    assert literal_span(memoryview(data)[:20], len(data), "a") is None
    assert literal_span(memoryview(data), len(data), "a") == literal_span(memoryview(ENTRY_A), len(ENTRY_A), "a")


async def test_the_last_of_two_entries_counts() -> None:
    data = ENTRY_A + serialized(a=2)
    span = literal_span(memoryview(data), len(data), "a")
    assert span is not None
    assert data[slice(*span)] == entries(data)["a"]


async def test_a_size_that_does_not_fit_is_none_of_a_map() -> None:
    for size in (len(ENTRY_A) - 1, len(ENTRY_A) + 1):
        assert literal_span(memoryview(ENTRY_A)[:20], size, "a") is None


async def test_an_entry_that_goes_on_behind_a_value_is_left_to_whoever_reads_the_whole() -> None:
    inside = framed(KEY, b"a") + framed(VALUE, b"x" * 200) + framed(VALUE, b"y")
    data = framed(ENTRY, inside)
    assert literal_span(memoryview(data)[:20], len(data), "a") is None


async def test_an_entry_in_pieces_is_left_to_whoever_reads_the_whole() -> None:
    pieces = bytes.fromhex("0a09 0a0161 1200 12020a00")
    assert entries(pieces) == {"a": bytes.fromhex("0a00")}
    assert literal_span(memoryview(pieces), len(pieces), "a") is None
