"""Bindings to values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.model.errors import Defect
from engine.model.graph import Binding
from engine.ports.blobstore import BlobStore


async def resolve(blobs: BlobStore, bindings: Sequence[Binding], sources: Mapping[str, str]) -> bytes:
    """The bound values as a serialized `LiteralMap`."""
    raise Defect("resolve is not written yet")
