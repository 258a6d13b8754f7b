from __future__ import annotations

import io
import marshal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.adapters.files.carrying import HEAD, serve
from engine.adapters.files.disk import Disk
from engine.adapters.files.staging import Staging


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    staging = Staging(str(tmp_path))
    yield Disk(str(tmp_path), staging, durable=False)
    staging.close(set())


def message(folder: Path, *names: str) -> bytes:
    body = marshal.dumps([("read", f"{folder}/{name}", 0, None, 100) for name in names])
    return len(body).to_bytes(HEAD, "little") + body


@pytest.mark.parametrize("lives", [0, 1, 3])
def test_it_ends_with_the_next_errand(disk: Disk, tmp_path: Path, lives: int) -> None:
    ours, theirs = socket.socketpair()
    looked: list[bool] = []

    def orphaned() -> bool:
        looked.append(len(looked) >= lives)
        return looked[-1]

    with ours, theirs, pytest.raises(ConnectionError, match="the engine is gone"):
        serve(disk, io.BytesIO(message(tmp_path, "a", "b") + message(tmp_path, "c", "d")), theirs, orphaned)
    assert looked == [False] * lives + [True]
