"""create: the first one wins, the others change nothing."""

from __future__ import annotations

from pathlib import Path

import anyio

from engine.adapters.files.blobs import FileBlobs
from engine.ports.blobstore import BlobStore
from tests.contract.blob_adapters import files, listed, store, unfinished

__all__ = ["files", "store"]


async def test_what_is_created_is_there(store: BlobStore) -> None:
    uri = store.uri("a/b/c")
    assert await store.create(uri, b"first")
    assert await store.get(uri) == b"first"


async def test_what_is_there_stays(store: BlobStore) -> None:
    uri = store.uri("a/b")
    await store.put(uri, b"put")
    assert not await store.create(uri, b"other")
    assert not await store.create(uri, b"put")
    assert await store.get(uri) == b"put"


async def test_what_was_deleted_can_be_created_again(store: BlobStore) -> None:
    uri = store.uri("a/b")
    await store.create(uri, b"first")
    await store.delete(uri)
    assert await store.create(uri, b"second")
    assert await store.get(uri) == b"second"


async def test_of_many_at_once_one_wins(store: BlobStore) -> None:
    uri = store.uri("a/b")
    winners: list[bytes] = []

    async def create(data: bytes) -> None:
        if await store.create(uri, data):
            winners.append(data)

    async with anyio.create_task_group() as group:
        for n in range(20):
            group.start_soon(create, b"%d" % n)
    assert [await store.get(uri)] == winners
    assert await listed(store, store.uri("a")) == [uri]


async def test_of_several_stores_on_one_folder_one_wins(tmp_path: Path) -> None:
    async with FileBlobs.open(tmp_path / "store") as one, FileBlobs.open(tmp_path / "store") as other:
        uri = one.uri("a/b")
        assert await one.create(uri, b"one")
        assert not await other.create(uri, b"other")
        assert await other.get(uri) == b"one"


async def test_nothing_unfinished_stays(files: FileBlobs, tmp_path: Path) -> None:
    await files.create(files.uri("a"), b"x")
    await files.create(files.uri("a"), b"y")
    assert unfinished(tmp_path) == []
