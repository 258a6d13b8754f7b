"""The files of a store are appended to each other in the thread, all of them or up to the first that is odd."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import pytest

from engine.adapters.files.blobs import FileBlobs
from engine.adapters.files.disk import Disk
from engine.adapters.files.parts import AT_ONCE, BUFFER, HEAD
from engine.model.errors import EngineError, StoreFailed, Transient
from engine.ports.blobstore import Part
from tests.contract.blob_adapters import listed, root_uri, unfinished

MIB = 1024 * 1024


def whole(data: memoryview, size: int) -> tuple[bytes, int, int]:
    return b"", 0, size


async def stored(files: FileBlobs, sizes: Sequence[int]) -> dict[str, bytes]:
    objects = {files.uri(f"a/{number}"): os.urandom(size) for number, size in enumerate(sizes)}
    for uri, data in objects.items():
        await files.put(uri, data)
    return objects


EDGES = [0, 1, HEAD - 1, HEAD, HEAD + 1, BUFFER - 1, BUFFER, BUFFER + 1, 3 * BUFFER + 7, 5]


@pytest.mark.parametrize("limit", [None, 5_000])
@pytest.mark.parametrize("begun", [0, 5, BUFFER - 3, BUFFER])
async def test_files_of_any_size(
    files: FileBlobs, monkeypatch: pytest.MonkeyPatch, begun: int, limit: int | None
) -> None:
    objects = await stored(files, EDGES)
    if limit is not None:
        read_little(monkeypatch, limit)
    async with files.writer(files.uri("b")) as writer:
        await writer.write(b"x" * begun)
        assert await writer.append_from(list(objects), whole) == EDGES
    assert await files.get(files.uri("b")) == b"x" * begun + b"".join(objects.values())


def read_little(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """The system reads and writes no more at once."""
    preadv, write = os.preadv, os.write

    def read(descriptor: int, rooms: Sequence[memoryview], position: int) -> int:
        (room,) = rooms
        return preadv(descriptor, [room[:limit]], position)

    def put(descriptor: int, data: bytes | memoryview) -> int:
        return write(descriptor, memoryview(data)[:limit])

    monkeypatch.setattr(os, "preadv", read)
    monkeypatch.setattr(os, "write", put)


async def test_what_is_written_before_between_and_after_keeps_its_place(files: FileBlobs) -> None:
    one, two = await stored(files, [BUFFER, 3_000])
    async with files.writer(files.uri("b")) as writer:
        for piece in (b"1", b"2" * MIB):
            await writer.write(piece)
        await writer.append_from([one], whole)
        for piece in (b"3" * MIB, b"4"):
            await writer.write(piece)
        await writer.append_from([two], whole)
        await writer.write(b"5")
    expected = [b"1", b"2" * MIB, await files.get(one), b"3" * MIB, b"4", await files.get(two), b"5"]
    assert await files.get(files.uri("b")) == b"".join(expected)


def link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/hostname")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("change", [Path.unlink, link, pipe, folder])
async def test_it_ends_before_a_file_that_is_none(files: FileBlobs, change: Callable[[Path], None]) -> None:
    objects = await stored(files, [10, 20, 30])
    change(Path([*objects][1].removeprefix("file://")))
    assert await taken(files, [*objects], whole) == [10]
    assert await files.get(files.uri("b")) == next(iter(objects.values()))


async def test_it_ends_before_a_file_whose_beginning_does_not_tell(files: FileBlobs) -> None:
    objects = await stored(files, [10, 20, 30])
    found = await taken(files, [*objects], lambda data, size: None if size == 20 else (b"-", 1, size))
    assert found == [10]
    assert await files.get(files.uri("b")) == b"-" + next(iter(objects.values()))[1:]


async def test_the_thread_is_free_for_others_after_so_many_bytes(files: FileBlobs) -> None:
    objects = await stored(files, [AT_ONCE // 4 + 1] * 5)
    assert await taken(files, [*objects], whole) == [AT_ONCE // 4 + 1] * 4


async def taken(files: FileBlobs, uris: Sequence[str], part: Part) -> list[int]:
    async with files.writer(files.uri("b")) as writer:
        await writer.write(b"")
        return await writer.append_from(uris, part)


async def test_a_file_that_becomes_shorter_leaves_nothing(files: FileBlobs, tmp_path: Path) -> None:
    (uri,) = await stored(files, [3 * BUFFER])

    def cut(data: memoryview, size: int) -> tuple[bytes, int, int]:
        os.truncate(uri.removeprefix("file://"), BUFFER)
        return b"", 0, size

    with pytest.raises(Transient, match="it became shorter while it was read"):
        await taken(files, [uri], cut)
    assert await listed(files, root_uri(files)) == [uri]
    assert unfinished(tmp_path) == []


@pytest.mark.parametrize("call", ["create", "append_all", "append"])
@pytest.mark.parametrize(("code", "expected"), [(errno.ENOSPC, StoreFailed), (errno.EINTR, Transient)])
async def test_trouble_with_the_disk_leaves_nothing(
    files: FileBlobs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    code: int,
    expected: type[EngineError],
) -> None:
    objects = await stored(files, [3 * BUFFER])

    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Disk, call, fail)
    with pytest.raises(expected, match=os.strerror(code)):
        await taken(files, [*objects], whole)
    monkeypatch.undo()
    assert await listed(files, root_uri(files)) == [*objects]
    assert unfinished(tmp_path) == []


async def test_trouble_with_a_file_that_is_read_stops_no_engine(
    files: FileBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = await stored(files, [3 * BUFFER])

    def fail(descriptor: int, rooms: Sequence[memoryview], position: int) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "preadv", fail)
    with pytest.raises(Transient, match="it can't be read"):
        await taken(files, [*objects], whole)


async def test_a_cancellation_leaves_nothing(files: FileBlobs, tmp_path: Path) -> None:
    objects = await stored(files, [3 * BUFFER])
    with anyio.CancelScope() as scope:
        async with files.writer(files.uri("b")) as writer:
            scope.cancel()
            await writer.append_from(list(objects), whole)
    assert scope.cancelled_caught
    assert await listed(files, root_uri(files)) == [*objects]
    assert unfinished(tmp_path) == []


async def test_one_cut_short_is_never_passed_off_as_whole(files: FileBlobs) -> None:
    objects = await stored(files, [3 * BUFFER])

    async def cut_short() -> None:
        async with files.writer(files.uri("b")) as writer:
            with anyio.CancelScope() as scope:
                scope.cancel()
                await writer.append_from(list(objects), whole)

    with pytest.raises(Transient, match="cut short"):
        await cut_short()
    assert await listed(files, root_uri(files)) == [*objects]
