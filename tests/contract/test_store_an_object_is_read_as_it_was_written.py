from __future__ import annotations

import pytest

from engine.model.errors import BlobNotFound
from engine.ports.blobstore import BlobStore

LARGE = bytes(range(256)) * (3 * 4096 + 1)
"""A little over 3 MiB."""


@pytest.mark.parametrize("data", [b"", b"x", b"\0\xff" * 500, LARGE], ids=["empty", "one", "binary", "large"])
async def test_what_is_put_is_what_is_got(store: BlobStore, data: bytes) -> None:
    uri = store.uri("metadata/propeller/p-d-e/n0/data/0/outputs.pb")
    await store.put(uri, data)
    assert await store.get(uri) == data
    assert await store.size(uri) == len(data)


async def test_a_second_put_replaces_the_object(store: BlobStore) -> None:
    uri = store.uri("a/b")
    await store.put(uri, b"a long first version")
    await store.put(uri, b"second")
    assert await store.get(uri) == b"second"
    assert await store.size(uri) == 6


@pytest.mark.parametrize("key", ["a", "a/b", "a/b/c"])
async def test_what_is_not_there_is_named(store: BlobStore, key: str) -> None:
    await store.put(store.uri("a/bc"), b"x")
    with pytest.raises(BlobNotFound) as caught:
        await store.get(store.uri(key))
    assert caught.value.uri == store.uri(key)
    assert str(caught.value) == f"no object at {store.uri(key)}"
    assert await store.size(store.uri(key)) is None


@pytest.mark.parametrize(
    "name", ["with space", "ünï 漢字", "per%20cent", "a#b", "a b?c=d&e", ".hidden", "-dash", "a:b", "~"]
)
async def test_names_are_taken_character_for_character(store: BlobStore, name: str) -> None:
    uri = store.uri(f"raw/{name}/{name}")
    assert uri.endswith(f"/raw/{name}/{name}")
    await store.put(uri, b"x")
    assert await store.get(uri) == b"x"
    assert [found async for found in store.list(store.uri("raw"))] == [uri]
