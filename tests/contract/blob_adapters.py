"""The stores under contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.adapters.blobkeys import TEMPORARY
from engine.adapters.files import errands
from engine.adapters.files.blobs import FileBlobs
from engine.adapters.files.porter import Porter
from engine.adapters.files.staging import LOCK
from engine.adapters.memory.blobs import MemoryBlobs
from engine.gateway.metrics import Metrics
from engine.ports.blobstore import BlobStore
from tests.contract.s3_world import s3_store


@pytest.fixture(
    params=["memory", "metered", "files", "files, by a porter", pytest.param("s3", marks=pytest.mark.service("s3"))]
)
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[BlobStore]:
    if request.param == "memory":
        yield MemoryBlobs()
        return
    if request.param == "metered":
        yield Metrics().store(MemoryBlobs())
        return
    if request.param == "s3":
        async with s3_store(part_bytes=5 * 2**20) as s3:
            yield s3
        return
    carried = request.param == "files, by a porter"
    async with FileBlobs.open(tmp_path / "store", porter=carried) as files:
        if carried:
            await every_call_is_carried(files, monkeypatch)
        yield files


async def every_call_is_carried(files: FileBlobs, monkeypatch: pytest.MonkeyPatch) -> Porter:
    """From now on another process does all that it may."""
    monkeypatch.setattr(errands, "MANY", 1)
    porter = files._small.porter
    assert porter is not None
    await porter.start()
    return porter


@pytest.fixture
async def files(tmp_path: Path) -> AsyncIterator[FileBlobs]:
    """A store of local files, at tmp_path / "store"."""
    async with FileBlobs.open(tmp_path / "store") as files:
        yield files


async def listed(store: BlobStore, prefix: str) -> list[str]:
    """The URIs below a prefix URI, sorted."""
    return sorted([uri async for uri in store.list(prefix)])


def unfinished(tmp_path: Path) -> list[str]:
    """Names of the files that the `files` fixture's store has not let appear yet."""
    return [path.name for path in (tmp_path / "store").glob(f"{TEMPORARY}*/*") if path.name != LOCK]


def root_uri(store: BlobStore) -> str:
    return store.uri("x").removesuffix("/x")
