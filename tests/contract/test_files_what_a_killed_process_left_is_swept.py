from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from engine.adapters.blobkeys import TEMPORARY
from engine.adapters.files.blobs import FileBlobs
from tests.contract.blob_adapters import listed, root_uri

WRITES_AND_WAITS = """
import asyncio, sys
from engine.adapters.files.blobs import FileBlobs

async def main():
    async with FileBlobs.open(sys.argv[1]) as files, files.writer(files.uri("a/b")) as writer:
        await writer.write(b"x" * 5_000_000)
        print("w", end="", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def temporaries(root: Path) -> list[str]:
    return [path.name for path in root.iterdir() if path.name.startswith(TEMPORARY)]


async def test_an_unfinished_object_is_invisible_and_swept_at_the_next_open(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITES_AND_WAITS, str(tmp_path)]
    async with await anyio.open_process(command, stdout=subprocess.PIPE, stderr=None) as process:
        assert process.stdout is not None
        assert await process.stdout.receive(1) == b"w"
        async with FileBlobs.open(tmp_path) as files:
            assert len(temporaries(tmp_path)) == 2, (
                "a live process's files were swept, or there is no folder of our own"
            )
            assert await listed(files, root_uri(files)) == []
        process.kill()
        await process.wait()
    assert len(temporaries(tmp_path)) == 1
    async with FileBlobs.open(tmp_path) as files:
        assert len(temporaries(tmp_path)) == 1, "the dead process's folder should be gone, and ours there"
        assert await listed(files, root_uri(files)) == []
    assert temporaries(tmp_path) == []


async def test_a_second_store_leaves_a_living_writer_alone(tmp_path: Path) -> None:
    async with FileBlobs.open(tmp_path) as first, first.writer(first.uri("a")) as writer:
        await writer.write(b"x" * 3_000_000)
        async with FileBlobs.open(tmp_path) as second:
            await second.put(second.uri("b"), b"y")
        await writer.write(b"z")
    async with FileBlobs.open(tmp_path) as files:
        assert await files.get(files.uri("a")) == b"x" * 3_000_000 + b"z"
        assert await files.get(files.uri("b")) == b"y"


@pytest.mark.parametrize("name", ["1-0123", "odd"])
async def test_leftovers_of_any_shape_are_swept(tmp_path: Path, name: str) -> None:
    folder = tmp_path / f"{TEMPORARY}{name}"
    (folder / "deeper").mkdir(parents=True)
    (folder / "7").write_bytes(b"x")
    async with FileBlobs.open(tmp_path):
        assert not folder.exists()
