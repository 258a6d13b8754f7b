"""The hash of a value: what its author says (`HashMethod`), else flytekit's own, whatever form the value has.

flytekit's is the SHA-256 over the literal's JSON, keys sorted, in base64 (flytekit.utils.pbhash). A literal inside a
list or map whose author gave it a hash counts as that hash (flytekit.core.local_cache). A value that is offloaded is
streamed from where it lies: a reference, a list of references and the value inline have one hash.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from engine.data.canonical import CanonicalHash, beside
from engine.data.framing import Data
from engine.data.literals import Kind
from engine.data.references import MAX_CHAIN, Reference, readable, reference_of, unreadable
from engine.data.stored import Reader, held_spans
from engine.model.errors import BlobNotFound, StoreFailed, StoreRefused, Transient
from engine.ports.blobstore import BlobStore

log = logging.getLogger(__name__)
HASH_SUFFIX = ".hash"
"""Beside an offloaded value whose hash was once asked for: its size in bytes, and its hash."""
_asked: dict[tuple[int, str], anyio.Lock] = {}
"""By store and URI: values whose hash is being found out now, so that many who ask at once have it made once."""


async def content_hash(blobs: BlobStore, literal: Data) -> str:
    """The hash of a serialized `Literal`.

    Raises CorruptMessage; Permanent (SYSTEM) where a reference leads nowhere; Transient.
    """
    reference = reference_of(literal)
    if reference is not None:
        return await _of_reference(blobs, reference)
    return await _of_value(blobs, Reader(blobs, "a value", bytes(literal)), len(literal))


async def _of_value(blobs: BlobStore, reader: Reader, size: int) -> str:
    own, _ = await beside(reader, await held_spans(reader, 0, size))
    if own:
        return own
    made = CanonicalHash(blobs)
    await made.add(reader, 0, size)
    return made.text()


async def _of_reference(blobs: BlobStore, reference: Reference) -> str:
    """A reference's own hash is not believed: it may be of the bytes, or blind to what the author says of the items."""
    for _ in range(MAX_CHAIN):
        uri = reference.uri
        async with _alone(blobs, uri):
            with readable(uri):
                size = await blobs.size(uri)
                if size is None:
                    raise BlobNotFound(uri)
                remembered = await _remembered(blobs, uri, size)
                if remembered:
                    return remembered
                reader = Reader(blobs, uri)
                if (await held_spans(reader, 0, size)).kind is not Kind.REFERENCE:
                    found = await _of_value(blobs, reader, size)
                    await _remember(blobs, uri, size, found)
                    return found
                following = reference_of(await reader.read(0, size))
        assert following is not None
        reference = following
    raise unreadable(reference.uri, f"{MAX_CHAIN} references lead to each other")


async def _remembered(blobs: BlobStore, uri: str, size: int) -> str:
    """Of this very value, as far as its size tells: who writes it again has cleared its folder before."""
    (note,) = await blobs.get_many([uri + HASH_SUFFIX])
    said, _, found = (note or b"").decode(errors="replace").partition(" ")
    return found if said == str(size) else ""


async def _remember(blobs: BlobStore, uri: str, size: int, found: str) -> None:
    try:
        await blobs.put(uri + HASH_SUFFIX, f"{size} {found}".encode())
    except (StoreFailed, StoreRefused, Transient) as problem:
        log.info("a value's hash can't be kept beside it", extra={"uri": uri, "cause": str(problem)})


@asynccontextmanager
async def _alone(blobs: BlobStore, uri: str) -> AsyncIterator[None]:
    key = (id(blobs), uri)
    lock = _asked.setdefault(key, anyio.Lock())
    try:
        async with lock:
            yield
    finally:
        if not lock.statistics().tasks_waiting:
            _asked.pop(key, None)
