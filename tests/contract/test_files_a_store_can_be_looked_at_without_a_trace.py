"""`open_readonly`: reads what is there, makes nothing, writes nothing."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from engine.adapters.files.blobs import FileBlobs
from engine.model.errors import BlobNotFound, StoreFailed


async def entries(root: Path) -> list[str]:
    return sorted(await anyio.to_thread.run_sync(lambda: [path.name for path in root.rglob("*")]))


async def test_what_is_there_is_read_and_nothing_is_left(tmp_path: Path) -> None:
    async with FileBlobs.open(tmp_path / "store") as store:
        await store.put(store.uri("a/b"), b"value")
    before = await entries(tmp_path)
    async with FileBlobs.open_readonly(tmp_path / "store") as look:
        assert await look.get(look.uri("a/b")) == b"value"
        assert await entries(tmp_path) == before
        with pytest.raises(StoreFailed):
            await look.put(look.uri("a/c"), b"value")
    assert await entries(tmp_path) == before


async def test_a_store_that_is_not_there_is_empty_and_is_not_made(tmp_path: Path) -> None:
    async with FileBlobs.open_readonly(tmp_path / "store") as look:
        assert await look.size(look.uri("a")) is None
        with pytest.raises(BlobNotFound):
            await look.get(look.uri("a"))
    assert await entries(tmp_path) == []
