"""flytekit's own hash, or the author's: of a value inline, and with any parts offloaded at any depth."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.adapters.memory.blobs import MemoryBlobs
from engine.data import canonical
from engine.data.contenthash import content_hash
from tests.dataplane import Literal
from tests.hashes import expected
from tests.property.offloading import Offloader
from tests.property.values import literals_without_references


@settings(max_examples=200)
@given(literals_without_references, st.data())
async def test_inline_and_offloaded(value: Literal, data: st.DataObject) -> None:
    blobs = MemoryBlobs()
    changed = Offloader(blobs, data).part(value)
    assert await content_hash(blobs, value.SerializeToString()) == expected(value)
    assert await content_hash(blobs, changed.SerializeToString()) == expected(value)


@settings(max_examples=200)
@given(literals_without_references, st.data())
async def test_in_small_pieces(value: Literal, data: st.DataObject) -> None:
    blobs = MemoryBlobs()
    changed = Offloader(blobs, data).part(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(canonical, "PIECE", 0)
        patch.setattr(canonical, "CHUNK", 3)
        assert await content_hash(blobs, changed.SerializeToString()) == expected(value)
