"""Puts registered modules into a store that is no folder, so that tasks on other machines can fetch them."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

from anyio import to_thread

from engine.model import layout
from engine.ports.blobstore import BlobStore


async def ship(blobs: BlobStore, code_root: Path, copies: Path) -> None:
    """`copies`: the folder with copies of modules, whose names follow from their content. Other places are left alone.

    Raises Transient, StoreFailed.
    """
    uri = blobs.uri(layout.sources(code_root.name or "none"))
    if code_root.parent != copies or not uri.startswith("s3://") or await blobs.size(uri) is not None:
        return
    await blobs.put(uri, await to_thread.run_sync(_packed, code_root), durable=True)


def _packed(folder: Path) -> bytes:
    """Blocking. A tar.gz of a folder's content."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name)
    return target.getvalue()
