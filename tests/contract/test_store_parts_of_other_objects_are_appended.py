"""A store appends what it can itself and says how far it came; whoever asked does the rest."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.ports.blobstore import BlobStore, Part

SIZES = {
    "small": [20] * 50,
    "large": [100, 300_000, 5_000, 2_000_000, 262_144, 17, 1_048_576],
}


def tail(data: memoryview, size: int) -> tuple[bytes, int, int]:
    """All but the first ten bytes and the last, with a mark before."""
    return b"mark", 10, size - 1


async def appended(store: BlobStore, uri: str, uris: Sequence[str], part: Part) -> list[int]:
    """What the store has appended by itself."""
    async with store.writer(uri) as writer:
        await writer.write(b"before ")
        sizes = await writer.append_from(uris, part)
        for rest in uris[len(sizes) :]:
            data = await store.get(rest)
            found = part(memoryview(data), len(data))
            assert found is not None
            before, start, end = found
            await writer.write(before + data[start:end])
        await writer.write(b" after")
    return sizes


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
async def test_the_parts_follow_each_other_whoever_appends_them(store: BlobStore, sizes: list[int]) -> None:
    objects = {store.uri(f"a/{number}"): bytes([number]) * size for number, size in enumerate(sizes)}
    for uri, data in objects.items():
        await store.put(uri, data)
    found = await appended(store, store.uri("b"), list(objects), tail)
    assert found == [4 + size - 11 for size in sizes][: len(found)]
    parts = [b"mark" + data[10:-1] for data in objects.values()]
    assert await store.get(store.uri("b")) == b"before " + b"".join(parts) + b" after"


async def test_it_ends_at_an_object_that_is_not_there(store: BlobStore) -> None:
    for name in ("a", "c"):
        await store.put(store.uri(name), b"x" * 20)
    async with store.writer(store.uri("d")) as writer:
        sizes = await writer.append_from([store.uri(name) for name in "abc"], tail)
    assert sizes == [13][: len(sizes)]
    assert await store.get(store.uri("d")) == b"".join(b"mark" + b"x" * 9 for _ in sizes)
