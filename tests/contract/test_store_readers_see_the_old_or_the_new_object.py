from __future__ import annotations

import anyio
import pytest

from engine.adapters.s3.blobs import S3Blobs
from engine.ports.blobstore import BlobStore
from tests.backing.s3 import replaces_in_place
from tests.backing.session import address

VERSIONS = 100


@pytest.mark.parametrize("size", [10, 1_200_000], ids=["small", "large"])
async def test_no_reader_ever_sees_a_part_or_a_mixture(store: BlobStore, size: int) -> None:
    if isinstance(store, S3Blobs) and replaces_in_place(address("s3")):
        pytest.skip("service s3: rclone shows readers the middle of a write; S3 itself does not")
    uri = store.uri("a/b")
    await store.put(uri, bytes([0]) * size)
    seen: list[bytes] = []
    done = anyio.Event()

    async def read() -> None:
        while not done.is_set():
            seen.append(await store.get(uri))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(read)
        for version in range(1, VERSIONS):
            await store.put(uri, bytes([version]) * (size if version % 2 else size // 2))
        done.set()
    assert await store.get(uri) == bytes([VERSIONS - 1]) * size
    for data in seen:
        version = data[0]
        assert data == bytes([version]) * (size // 2 if version and not version % 2 else size)
    versions = [data[0] for data in seen]
    assert len(set(versions)) > 1, "the readers never ran between two writes"
