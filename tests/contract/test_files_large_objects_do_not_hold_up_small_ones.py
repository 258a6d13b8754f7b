from __future__ import annotations

import threading
from collections.abc import Sequence

import anyio
import pytest

from engine.adapters.files.blobs import FileBlobs
from engine.adapters.files.disk import Disk


@pytest.mark.parametrize("stream", [True, False])
async def test_small_objects_are_served_while_a_large_one_waits_for_the_disk(
    files: FileBlobs, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    disk_is_fast_again = threading.Event()
    method = "append_all" if stream else "append"
    append = getattr(Disk, method)

    def slow_append(disk: Disk, descriptor: int, data: Sequence[bytes | memoryview] | bytes) -> None:
        if data != b"x":
            assert disk_is_fast_again.wait(30)
        append(disk, descriptor, data)

    monkeypatch.setattr(Disk, method, slow_append)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write if stream else put, files)
        await anyio.wait_all_tasks_blocked()
        await files.put(files.uri("small"), b"x")
        assert await files.get(files.uri("small")) == b"x"
        assert await files.size(files.uri("large")) is None
        disk_is_fast_again.set()
    assert await files.size(files.uri("large")) == 3_000_000


async def put(files: FileBlobs) -> None:
    await files.put(files.uri("large"), b"x" * 3_000_000)


async def write(files: FileBlobs) -> None:
    async with files.writer(files.uri("large")) as stream:
        await stream.write(b"x" * 3_000_000)
