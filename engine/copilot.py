"""Carries the files of a raw container, from beside it in its pod.

`python -m engine.copilot in URI PATH ...` fetches objects of the store before the container runs. `out READY PATH URI`
makes the file READY, waits until it is told to end (SIGTERM: the container has ended), then stores what lies in its
folder. What the files mean is the engine's business (engine.data.copilot).
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
from anyio import to_thread

from engine.adapters.s3.blobs import S3Blobs
from engine.adapters.s3.options import S3Options
from engine.model.errors import EngineError
from engine.ports.blobstore import BlobStore

PIECE = 8 * 2**20
"""Bytes of a file in memory at once."""
NOTHING = "-"
"""In place of what is fetched: the folder is only made."""
_LOCAL = "file://"


class Stores:
    """The stores of URIs, each opened once."""

    def __init__(self, exits: AsyncExitStack) -> None:
        self._exits, self._open = exits, dict[str, BlobStore]()

    async def of(self, uri: str) -> BlobStore:
        root = "/".join(uri.split("/")[:3])
        if root not in self._open:
            self._open[root] = await self._exits.enter_async_context(_opened(root))
        return self._open[root]


@asynccontextmanager
async def _opened(root: str) -> AsyncIterator[BlobStore]:
    addressing = os.environ.get("FLYTE_AWS_ADDRESSING_STYLE")
    options = S3Options(
        endpoint=os.environ.get("FLYTE_AWS_ENDPOINT"),
        region=os.environ.get("AWS_DEFAULT_REGION"),
        addressing="virtual" if addressing == "virtual" else "auto",
    )
    async with S3Blobs.open(root, options) as blobs:
        yield blobs


async def fetch(pairs: Sequence[tuple[str, str]]) -> None:
    """Objects, or all objects below a URI, to files. Folders are open to whatever user the container runs as."""
    async with AsyncExitStack() as exits:
        stores = Stores(exits)
        for uri, path in pairs:
            if uri == NOTHING:
                await to_thread.run_sync(_make_folder, Path(path))
                continue
            if uri.startswith(_LOCAL):
                await to_thread.run_sync(_copy, Path(uri.removeprefix(_LOCAL)), Path(path))
                continue
            blobs = await stores.of(uri)
            if await blobs.size(uri) is not None:
                await _fetch_one(blobs, uri, Path(path))
                continue
            await to_thread.run_sync(_make_folder, Path(path))
            async for found in blobs.list(uri):
                await _fetch_one(blobs, found, Path(path) / found[len(uri) + 1 :])


def _copy(source: Path, target: Path) -> None:
    """A file, or all that is below a folder; nothing, where there is none."""
    if source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        return
    _make_folder(target)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)


def _make_folder(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o777)


async def _fetch_one(blobs: BlobStore, uri: str, path: Path) -> None:
    await to_thread.run_sync(lambda: path.parent.mkdir(parents=True, exist_ok=True))
    size = await blobs.size(uri) or 0
    async with await anyio.open_file(path, "wb") as file:
        for start in range(0, size, PIECE):
            await file.write(await blobs.get(uri, start, min(start + PIECE, size)))


async def send(ready: str, folder: str, uri: str) -> None:
    """All files below a folder to objects, once SIGTERM comes. Links are followed.

    `ready` is there from when the signal can come until all is stored.
    """
    mark = anyio.Path(ready)
    with anyio.open_signal_receiver(signal.SIGTERM) as signals:
        await mark.touch()
        async for _ in signals:
            break
        if uri.startswith(_LOCAL):
            await to_thread.run_sync(_copy, Path(folder), Path(uri.removeprefix(_LOCAL)))
        else:
            async with AsyncExitStack() as exits:
                blobs = await Stores(exits).of(uri)
                for path in await to_thread.run_sync(_files, Path(folder)):
                    await _send_one(blobs, path, f"{uri}/{path.relative_to(folder).as_posix()}")
        await mark.unlink()


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


async def _send_one(blobs: BlobStore, path: Path, uri: str) -> None:
    async with await anyio.open_file(path, "rb") as file, blobs.writer(uri) as writer:
        while piece := await file.read(PIECE):
            await writer.write(piece)


def main(words: Sequence[str]) -> int:
    what, *places = words
    try:
        if what == "in":
            anyio.run(fetch, list(zip(places[::2], places[1::2], strict=True)))
        else:
            ready, folder, uri = places
            anyio.run(send, ready, folder, uri)
    except (EngineError, OSError) as error:
        print(f"engine.copilot {what}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
