from __future__ import annotations

from engine.ports.blobstore import BlobStore
from tests.contract.blob_adapters import listed, root_uri

KEYS = ["a/b/1", "a/b/c/2", "a/bc/3", "a/b.txt", "ab/4", "b"]


async def test_only_what_is_below_the_prefix_is_listed(store: BlobStore) -> None:
    for key in KEYS:
        await store.put(store.uri(key), b"x")
    for prefix, expected in [
        ("a/b", ["a/b/1", "a/b/c/2"]),
        ("a", ["a/b/1", "a/b/c/2", "a/bc/3", "a/b.txt"]),
        ("a/b/1", []),
        ("a/b.txt", []),
        ("none", []),
        ("b/none", []),
    ]:
        assert await listed(store, store.uri(prefix)) == sorted(map(store.uri, expected)), prefix
    assert await listed(store, root_uri(store)) == sorted(map(store.uri, KEYS))


async def test_a_listing_may_be_left_early(store: BlobStore) -> None:
    for number in range(3):
        await store.put(store.uri(f"a/{number}"), b"x")
    listing = store.list(store.uri("a"))
    async for uri in listing:
        assert uri.startswith(store.uri("a") + "/")
        break
    await listing.aclose()  # type: ignore[attr-defined]
    assert len(await listed(store, store.uri("a"))) == 3


async def test_what_is_deleted_meanwhile_does_no_harm(store: BlobStore) -> None:
    for number in range(10):
        await store.put(store.uri(f"a/{number}/x"), b"x")
    seen = []
    async for uri in store.list(store.uri("a")):
        seen.append(uri)
        await store.delete(store.uri("a"))
    assert 1 <= len(seen) <= 10
    assert await listed(store, store.uri("a")) == []
