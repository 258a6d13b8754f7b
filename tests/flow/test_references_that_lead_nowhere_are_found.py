"""The checker's walk over stored values: small ones as a whole, large ones by ranges, and what they refer to."""

from __future__ import annotations

import pytest

from engine.adapters.memory.blobs import MemoryBlobs
from engine.data.dangling import CHUNK, Dangling
from engine.data.framing import framed
from engine.data.literals import UNION, UNION_VALUE, Kind, collection, literal_map, map_literal
from engine.data.references import Reference, reference_literal

TEXT = framed(Kind.SCALAR, framed(0x0A, framed(0x22, b"x" * (CHUNK // 4))))


async def test_at_any_depth_of_a_value_of_any_size() -> None:
    blobs = MemoryBlobs()
    gone = reference_literal(Reference(blobs.uri("gone"), 5), "h")
    union = framed(Kind.SCALAR, framed(UNION, framed(UNION_VALUE, gone)))
    for place in (gone, union, collection([gone]), map_literal({"k": gone}), map_literal({"k": collection([union])})):
        for beside in ([], [TEXT] * 9):
            top = blobs.uri("top")
            await blobs.put(top, literal_map({"v": collection([*beside, place, *beside]), "w": collection(beside)}))
            assert await Dangling(blobs).problems(top) == [f"no object at {blobs.uri('gone')}"]


@pytest.mark.parametrize("beside", [[], [TEXT] * 9])
async def test_what_a_reference_leads_to_is_walked_too(beside: list[bytes]) -> None:
    blobs = MemoryBlobs()
    top, inner = blobs.uri("top"), blobs.uri("inner")
    value = collection([*beside, reference_literal(Reference(blobs.uri("gone"), 5), "h")])
    await blobs.put(inner, value)
    await blobs.put(top, literal_map({"v": reference_literal(Reference(inner, len(value)), "h")}))
    assert await Dangling(blobs).problems(top) == [f"no object at {blobs.uri('gone')}"]


async def test_a_value_that_is_whole_and_one_that_is_cut_short() -> None:
    blobs = MemoryBlobs()
    top, inner = blobs.uri("top"), blobs.uri("inner")
    await blobs.put(inner, TEXT)
    await blobs.put(top, literal_map({"v": reference_literal(Reference(inner, len(TEXT)), "h")}))
    assert await Dangling(blobs).problems(top) == []
    await blobs.put(inner, b"")
    assert await Dangling(blobs).problems(top) == [f"{inner} has 0 bytes, the reference to it says {len(TEXT)}"]


async def test_references_that_lead_to_each_other_end_the_walk() -> None:
    blobs = MemoryBlobs()
    top, one = blobs.uri("top"), blobs.uri("one")
    circle = reference_literal(Reference(one, 1), "h")
    await blobs.put(one, circle)
    await blobs.put(top, literal_map({"v": circle}))
    assert await Dangling(blobs).problems(top) == []


async def test_an_object_that_is_no_map_of_values() -> None:
    blobs = MemoryBlobs()
    await blobs.put(blobs.uri("top"), b"\x42\x03\x0a\x01/notes to self")
    (problem,) = await Dangling(blobs).problems(blobs.uri("top"))
    assert "byte" in problem
