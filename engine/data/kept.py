"""Outputs that outlive their execution: what they refer to is stored once more, where no execution's folder is.

An execution's folder may be deleted, or cleared for a new run of its name, whose files then have the old names; what is
kept must neither dangle nor turn into another value.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from flyteidl.core import literals_pb2

from engine.data.framing import Data
from engine.data.literals import entries, held, literal_map
from engine.data.materialise import expanded_literal, write
from engine.data.offload import value_name
from engine.data.references import Reference, may_hold_references, reference_literal, reference_of, walk_references
from engine.ports.blobstore import BlobStore


async def self_contained(blobs: BlobStore, outputs: bytes, types: Mapping[str, bytes], folder: str) -> bytes:
    """The same outputs (a serialized `LiteralMap`), with each value that holds references stored whole below `folder`.

    `types`: variable -> serialized `LiteralType`, for values whose reference does not say it. Raises CorruptMessage;
    Permanent (SYSTEM) where a reference leads nowhere; Transient; StoreFailed.
    """
    if not may_hold_references(outputs):
        return outputs
    kept: dict[str, Data] = {}
    for name, literal in entries(outputs).items():
        refers = any(True for _ in walk_references(literal))
        kept[name] = await _stored(blobs, name, literal, types.get(name, b""), folder) if refers else literal
    return literal_map(kept)


async def _stored(blobs: BlobStore, name: str, literal: Data, declared: bytes, folder: str) -> bytes:
    reference = reference_of(literal)
    uri = blobs.uri(f"{folder}/{value_name(name)}")
    rope = await expanded_literal(blobs, literal, sys.maxsize)
    await write(blobs, rope, uri)
    kind = reference.inferred_type if reference is not None else declared
    return reference_literal(Reference(uri, rope.size, kind), _hash(literal))


def _hash(literal: Data) -> str:
    """What stands beside the value as its hash; empty where there is none."""
    beside = b"".join(literal[start:end] for start, end in held(literal).beside)
    return str(literals_pb2.Literal.FromString(beside).hash)
