from __future__ import annotations

import pytest

from engine.model.errors import BlobNotFound
from engine.ports.blobstore import BlobStore

DATA = b"0123456789"
LARGE = bytes(range(251)) * 10_000
"""About 2.4 MiB."""


@pytest.mark.parametrize("start", [0, 1, 9, 10, 11, 1000, -1, -3, -10, -11, -1000])
async def test_every_range_is_what_a_slice_would_give(store: BlobStore, start: int) -> None:
    uri = store.uri("a")
    await store.put(uri, DATA)
    for end in (None, 0, 1, 5, 9, 10, 11, 1000, -1, -5, -10, -1000):
        assert await store.get(uri, start, end) == DATA[start:end], (start, end)


@pytest.mark.parametrize(
    ("start", "end"), [(0, None), (1_000_000, 1_000_010), (5, -5), (-7, None), (0, 1_500_000), (2_500_000, 9_999_999)]
)
async def test_ranges_of_a_large_object(store: BlobStore, start: int, end: int | None) -> None:
    uri = store.uri("large")
    await store.put(uri, LARGE)
    assert await store.get(uri, start, end) == LARGE[start:end]


async def test_a_range_of_nothing_is_not_found(store: BlobStore) -> None:
    with pytest.raises(BlobNotFound):
        await store.get(store.uri("a"), 5, 5)
