from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from engine.adapters.files.blobs import FileBlobs
from engine.adapters.files.disk import Disk
from engine.adapters.files.staging import Staging
from tests.contract.blob_adapters import unfinished

MIB = 1024 * 1024


def open_files() -> int:
    return len(os.listdir("/dev/fd"))


@pytest.mark.parametrize("size", [10, 5 * MIB])
async def test_a_cancelled_stream_is_removed_and_closed(files: FileBlobs, tmp_path: Path, size: int) -> None:
    before = open_files()
    for _ in range(3):
        with anyio.CancelScope() as scope:
            async with files.writer(files.uri("a")) as writer:
                await writer.write(b"x" * size)
                scope.cancel()
                await anyio.sleep_forever()
    assert unfinished(tmp_path) == []
    assert open_files() == before


async def test_a_listing_left_early_closes_its_folders(files: FileBlobs) -> None:
    for number in range(3):
        await files.put(files.uri(f"a/{number}/x"), b"")
    before = open_files()
    for _ in range(3):
        listing = files.list(files.uri("a"))
        assert await anext(listing)
        await listing.aclose()  # type: ignore[attr-defined]
    await files.delete(files.uri("a"))
    assert open_files() == before


def test_a_folder_removed_since_it_was_seen_is_made_again(tmp_path: Path) -> None:
    disk = Disk(str(tmp_path), Staging(str(tmp_path)), durable=False)
    known = {f"{tmp_path}/a", f"{tmp_path}/a/b"}
    disk.write(f"{tmp_path}/a/b/c", b"x", False, known)
    assert disk.read(f"{tmp_path}/a/b/c", 0, None, None, known) == b"x"
