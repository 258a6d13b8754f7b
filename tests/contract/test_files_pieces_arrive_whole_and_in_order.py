"""A stream of pieces of any sizes becomes one object, however little the system takes at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from engine.adapters.files.blobs import FileBlobs
from engine.adapters.files.disk import PIECES

SIZES = {
    "small": [7] * 3 * PIECES,
    "large": [300_000, 1, 2_000_000, 5_000] * 5,
    "many and large": [5_000] * (PIECES + 3),
    "nothing": [0, 0],
}


@pytest.mark.parametrize("limit", [None, 1000])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
async def test_pieces(files: FileBlobs, monkeypatch: pytest.MonkeyPatch, sizes: list[int], limit: int | None) -> None:
    if limit is not None:
        writev = os.writev
        monkeypatch.setattr(os, "writev", lambda fd, pieces: writev(fd, _within(pieces, limit * len(pieces))))
    pieces = [bytes([number % 251]) * size for number, size in enumerate(sizes)]
    uri = files.uri("a/b")
    async with files.writer(uri) as writer:
        for piece in pieces:
            await writer.write(memoryview(piece))
    assert await files.get(uri) == b"".join(pieces)


def _within(pieces: Sequence[bytes | memoryview], limit: int) -> list[bytes]:
    return [b"".join(pieces)[:limit]]


async def test_a_piece_that_changes_later_was_taken_as_it_was(files: FileBlobs) -> None:
    piece = bytearray(b"before")
    async with files.writer(files.uri("a")) as writer:
        await writer.write(memoryview(piece))
        piece[:] = b"after!"
    assert await files.get(files.uri("a")) == b"before"
