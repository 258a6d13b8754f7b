from __future__ import annotations

from engine.ports.blobstore import BlobStore


async def test_objects_come_in_the_order_asked_for_and_missing_ones_as_none(store: BlobStore) -> None:
    for number in range(0, 600, 2):
        await store.put(store.uri(f"n1/{number}/out"), str(number).encode())
    asked = [599, 4, 4, *range(600), 0]
    found = await store.get_many([store.uri(f"n1/{number}/out") for number in asked])
    assert found == [None if number % 2 else str(number).encode() for number in asked]


async def test_no_uris_give_no_objects(store: BlobStore) -> None:
    assert await store.get_many([]) == []


async def test_large_ones_keep_their_place(store: BlobStore) -> None:
    large = b"x" * 1_500_000
    await store.put(store.uri("a"), b"a")
    await store.put(store.uri("large"), large)
    uris = [store.uri(key) for key in ("large", "a", "none", "large", "a")]
    assert await store.get_many(uris) == [large, b"a", None, large, b"a"]
    assert await store.get_many([store.uri("a")] * 300 + uris[:2]) == [b"a"] * 300 + [large, b"a"]


async def test_a_folder_is_no_object(store: BlobStore) -> None:
    await store.put(store.uri("a/b"), b"x")
    assert await store.get_many([store.uri("a"), store.uri("a/b"), store.uri("a/b/c")]) == [None, b"x", None]


async def test_an_end_cuts_each_of_them(store: BlobStore) -> None:
    large = bytes(range(250)) * 12_000
    await store.put(store.uri("a"), b"abcdef")
    await store.put(store.uri("large"), large)
    uris = [store.uri(key) for key in ("a", "none", "large")]
    assert await store.get_many(uris, 3) == [b"abc", None, large[:3]]
    assert await store.get_many(uris, 2_000_000) == [b"abcdef", None, large[:2_000_000]]
    assert await store.get_many(uris, 0) == [b"", None, b""]
