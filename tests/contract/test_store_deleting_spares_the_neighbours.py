from __future__ import annotations

from engine.ports.blobstore import BlobStore
from tests.contract.blob_adapters import listed, root_uri

KEYS = ["a/b/1", "a/b/c/2", "a/bc/3", "ab", "b"]


async def test_a_prefix_is_deleted_and_nothing_beside_it(store: BlobStore) -> None:
    for key in KEYS:
        await store.put(store.uri(key), b"x")
    await store.delete(store.uri("a/b"))
    assert await listed(store, root_uri(store)) == sorted(map(store.uri, ["a/bc/3", "ab", "b"]))


async def test_one_object_is_deleted(store: BlobStore) -> None:
    for key in KEYS:
        await store.put(store.uri(key), b"x")
    await store.delete(store.uri("a/b/1"))
    assert await listed(store, root_uri(store)) == sorted(map(store.uri, ["a/b/c/2", "a/bc/3", "ab", "b"]))


async def test_deleting_again_or_deleting_nothing_is_no_error(store: BlobStore) -> None:
    await store.put(store.uri("a"), b"x")
    for key in ("a", "a", "none", "none/none", "a/b"):
        await store.delete(store.uri(key))
    assert await listed(store, root_uri(store)) == []


async def test_what_was_deleted_can_be_written_again(store: BlobStore) -> None:
    await store.put(store.uri("a/b/c"), b"old")
    await store.delete(store.uri("a"))
    await store.put(store.uri("a/b/c"), b"new")
    assert await store.get(store.uri("a/b/c")) == b"new"
