from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.adapters.files import disk, folders
from engine.adapters.files.blobs import FileBlobs
from engine.model.errors import EngineError, StoreFailed, StoreRefused, Transient
from tests.contract.blob_adapters import listed, root_uri, unfinished


def failing(code: int) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    return fail


WRITING = [
    (errno.ENOSPC, StoreFailed),
    (errno.EDQUOT, StoreFailed),
    (errno.EROFS, StoreFailed),
    (errno.EIO, StoreFailed),
    (errno.ENOENT, StoreFailed),
    (errno.EACCES, StoreRefused),
    (errno.EMFILE, Transient),
    (errno.EINTR, Transient),
    (errno.ESTALE, Transient),
]
READING = [
    (errno.EIO, Transient),
    (errno.EMFILE, Transient),
    (errno.ESTALE, Transient),
    (errno.EACCES, StoreRefused),
]


@pytest.mark.parametrize(("code", "expected"), WRITING, ids=lambda value: errno.errorcode.get(value, "") or "")
@pytest.mark.parametrize("size", [10, 3_000_000])
async def test_a_failed_write_names_the_object_and_leaves_nothing(
    files: FileBlobs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    expected: type[EngineError],
    size: int,
) -> None:
    monkeypatch.setattr(disk.Disk, "append", failing(code))
    monkeypatch.setattr(disk.Disk, "append_all", failing(code))
    uri = files.uri("a/b")
    for call in (files.put(uri, b"x" * size), write(files, uri, size)):
        with pytest.raises(expected) as caught:
            await call
        assert uri in str(caught.value)
        assert os.strerror(code) in str(caught.value)
    monkeypatch.undo()
    assert unfinished(tmp_path) == []
    assert await listed(files, root_uri(files)) == []
    await files.put(uri, b"works again")


async def test_a_disk_that_fills_up_at_the_last_step_leaves_nothing(
    files: FileBlobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "make", failing(errno.ENOSPC))
    for call in (files.put(files.uri("a"), b"x"), write(files, files.uri("a"), 3_000_000)):
        with pytest.raises(StoreFailed, match="No space left on device"):
            await call
    monkeypatch.undo()
    assert unfinished(tmp_path) == []
    assert await listed(files, root_uri(files)) == []


@pytest.mark.parametrize(("code", "expected"), READING, ids=lambda value: errno.errorcode.get(value, "") or "")
async def test_a_failed_read_names_the_object(
    files: FileBlobs, monkeypatch: pytest.MonkeyPatch, code: int, expected: type[EngineError]
) -> None:
    uri = files.uri("a")
    await files.put(uri, b"x")
    monkeypatch.setattr(disk, "_read", failing(code))
    for call in (files.get(uri), files.get_many([uri])):
        with pytest.raises(expected) as caught:
            await call
        assert uri in str(caught.value)
        assert os.strerror(code) in str(caught.value)


async def test_an_object_can_not_lie_below_another_one(files: FileBlobs) -> None:
    await files.put(files.uri("a"), b"x")
    await files.put(files.uri("b/c"), b"x")
    for key in ("a/b", "a/b/c", "b"):
        with pytest.raises(StoreRefused) as caught:
            await files.put(files.uri(key), b"y")
        assert files.uri(key) in str(caught.value)
    assert await listed(files, root_uri(files)) == [files.uri("a"), files.uri("b/c")]


async def test_a_store_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreRefused, match=f"file://{tmp_path}/file/store can't be written"):
        async with FileBlobs.open(tmp_path / "file" / "store"):
            pass


async def write(files: FileBlobs, uri: str, size: int) -> None:
    async with files.writer(uri) as writer:
        await writer.write(b"x" * size)


async def test_a_store_that_was_deleted_takes_no_more_writes(files: FileBlobs) -> None:
    """Nothing that is waited for would bring it back."""
    await files.put(files.uri("a/b"), b"x")
    shutil.rmtree(root_uri(files).removeprefix("file://"))
    for call in (files.put(files.uri("a/c"), b"x"), write(files, files.uri("a/c"), 10)):
        with pytest.raises(StoreFailed, match="a/c can't be written: No such file or directory"):
            await call
