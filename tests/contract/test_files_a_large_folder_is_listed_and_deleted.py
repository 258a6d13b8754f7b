from __future__ import annotations

import asyncio
import os
from pathlib import Path

from engine.adapters.files.blobs import FileBlobs

COUNT = 10_000


async def test_ten_thousand_objects_are_listed_once_each_and_deleted(files: FileBlobs, tmp_path: Path) -> None:
    await asyncio.to_thread(fill, tmp_path / "store" / "n1")
    expected = {files.uri(f"n1/{folder}/{number}") for folder in range(10) for number in range(COUNT // 10)}
    expected.add(files.uri("n1/first"))
    found = [uri async for uri in files.list(files.uri("n1"))]
    assert len(found) == COUNT + 1
    assert set(found) == expected
    await files.delete(files.uri("n1"))
    assert not (tmp_path / "store" / "n1").exists()


def fill(root: Path) -> None:
    """Hard links: a new file each would take the file system far longer."""
    os.makedirs(root)
    os.mknod(root / "first")
    for folder in range(10):
        os.mkdir(root / str(folder))
        for number in range(COUNT // 10):
            os.link(root / "first", f"{root}/{folder}/{number}")


async def test_names_that_no_uri_can_have_are_left_out_and_deleted_with_their_folder(
    files: FileBlobs, tmp_path: Path
) -> None:
    folder = tmp_path / "store" / "raw"
    folder.mkdir()
    for name in (b"good", b"back\\slash", b"a::b", b"not utf-8 \xff"):
        (folder / os.fsdecode(name)).touch()
    assert [uri async for uri in files.list(files.uri("raw"))] == [files.uri("raw/good")]
    await files.delete(files.uri("raw"))
    assert not folder.exists()
