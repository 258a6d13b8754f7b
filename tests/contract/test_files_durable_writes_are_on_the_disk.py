from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.adapters.files.blobs import FileBlobs


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Every fsync so far: the path at that moment, and its size in bytes (0 for a folder)."""
    calls: list[tuple[str, int]] = []
    fsync = os.fsync

    def record(descriptor: int) -> None:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        calls.append((path, 0 if os.path.isdir(path) else os.fstat(descriptor).st_size))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    return calls


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc to name descriptors")
@pytest.mark.parametrize("stream", [False, True])
async def test_the_whole_file_is_synced_before_it_appears_and_its_folders_after(
    tmp_path: Path, synced: list[tuple[str, int]], stream: bool
) -> None:
    async with FileBlobs.open(tmp_path, durable=True) as files:
        await write(files, stream)
    (temporary, size), *rest = synced
    assert size == 1000
    assert os.path.dirname(temporary).startswith(f"{tmp_path}/.propwash-tmp-")
    assert rest == [(f"{tmp_path}/a/b", 0), (f"{tmp_path}/a", 0), (str(tmp_path), 0)]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc to name descriptors")
async def test_one_object_can_be_durable_in_a_store_that_is_not(tmp_path: Path, synced: list[tuple[str, int]]) -> None:
    async with FileBlobs.open(tmp_path) as files:
        await files.put(files.uri("a/c"), b"x" * 1000, durable=True)
    assert [size for _, size in synced] == [1000, 0, 0]
    assert [path for path, _ in synced[1:]] == [f"{tmp_path}/a", str(tmp_path)]


async def test_nothing_is_synced_otherwise(tmp_path: Path, synced: list[tuple[str, int]]) -> None:
    async with FileBlobs.open(tmp_path) as files:
        await write(files, False)
        await write(files, True)
    assert synced == []


async def write(files: FileBlobs, stream: bool) -> None:
    uri = files.uri("a/b/c")
    if not stream:
        await files.put(uri, b"x" * 1000)
        return
    async with files.writer(uri) as writer:
        await writer.write(b"x" * 1000)
