from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.adapters.processes.capture import Capture


def captured(path: Path, limit: int, chunks: Sequence[bytes]) -> tuple[bytes, bytes]:
    """What the file holds in the end, and what the capture says are the last 5 bytes."""
    capture = Capture(str(path), limit)
    for chunk in chunks:
        capture.write(chunk)
    last = capture.last(5)
    capture.close()
    return path.read_bytes(), last


@pytest.mark.parametrize(
    ("stream", "kept"),
    [
        (b"", b""),
        (b"abc", b"abc"),
        (b"abcdefghij", b"abcdefghij"),
        (b"abcdefghijk", b"abcde\n[... 1 bytes cut here ...]\nghijk"),
        (b"abcdefghijklmnopqrstuvwxyz", b"abcde\n[... 16 bytes cut here ...]\nvwxyz"),
    ],
)
def test_head_and_tail_stay(tmp_path: Path, stream: bytes, kept: bytes) -> None:
    assert captured(tmp_path / "log", 10, [stream]) == (kept, stream[-5:])


@given(chunks=st.lists(st.binary(max_size=40)), limit=st.integers(2, 50))
def test_however_it_comes(tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes], limit: int) -> None:
    stream = b"".join(chunks)
    head, ring = limit // 2, limit - limit // 2
    cut = len(stream) - limit
    mark = f"\n[... {cut} bytes cut here ...]\n".encode()
    wanted = stream if cut <= 0 else stream[:head] + mark + stream[-ring:]
    path = tmp_path_factory.mktemp("capture") / "log"
    kept, last = captured(path, limit, chunks)
    assert kept == wanted
    assert last == stream[-min(5, ring) :] if stream else last == b""


def test_a_file_that_can_not_be_made_loses_the_output_only(tmp_path: Path) -> None:
    capture = Capture(str(tmp_path / "no" / "log"), 10)
    capture.write(b"x" * 100)
    assert (capture.total, capture.last(5)) == (100, b"")
    capture.close()
    assert "No such file or directory" in capture.problem


def test_a_full_disk_loses_the_rest_and_is_told() -> None:
    capture = Capture("/dev/full", 10)
    capture.write(b"x" * 100)
    capture.close()
    assert "No space left on device" in capture.problem
