"""The key under which a task's result is kept: who the task is, what its author calls this version, what it was given.

The task's version is no part of it: a new registration with the same name, interface and cache version finds what the
one before it kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache

from flyteidl.core import types_pb2

from engine.data.container import container_of
from engine.data.contenthash import content_hash
from engine.data.framing import Data
from engine.data.literals import entries
from engine.model.cache import CacheKey, CachePolicy
from engine.model.graph import ArraySpec, Interface, TaskSpec
from engine.ports.blobstore import BlobStore

Hashes = Mapping[str, str]
"""Variable -> hash of its value."""
_MODULE, _NAME = "task-module", "task-name"
"""What stands before the two parts of a task's name in its command."""


async def task_key(blobs: BlobStore, task: TaskSpec, policy: CachePolicy, inputs: Data) -> CacheKey:
    """Of a task with these inputs (a serialized `LiteralMap`). Raises as `content_hash`."""
    return _key(task, task.id.name, policy, task.interface, await input_hashes(blobs, inputs, policy.ignored))


async def element_key(
    blobs: BlobStore, task: TaskSpec, policy: CachePolicy, array: ArraySpec, mapped: Mapping[str, Data], whole: Hashes
) -> CacheKey:
    """Of one element of a map: its items by variable, and the hashes of the inputs that every element gets.

    It is the key of the task that is mapped: neither the other elements nor how the map is run make a difference.
    Raises as `content_hash`.
    """
    items = {name: await content_hash(blobs, item) for name, item in mapped.items() if name not in policy.ignored}
    face = task.interface
    if not array.original_interface:
        tolerant = array.min_success_ratio is not None and array.min_success_ratio != 1
        face = Interface(
            {name: _item(kind) if name in mapped else kind for name, kind in face.inputs.items()},
            {name: _item(kind, optional=tolerant) for name, kind in face.outputs.items()},
        )
    return _key(task, _inner_name(task), policy, face, {**whole, **items})


async def input_hashes(blobs: BlobStore, inputs: Data, ignored: frozenset[str]) -> Hashes:
    """Variable -> hash of its value, of the inputs that make a difference."""
    counting = {name: literal for name, literal in entries(inputs).items() if name not in ignored}
    return {name: await content_hash(blobs, literal) for name, literal in counting.items()}


def _key(task: TaskSpec, name: str, policy: CachePolicy, face: Interface, hashes: Hashes) -> CacheKey:
    said = [policy.version, signature(face.inputs), signature(face.outputs), hashes]
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    return CacheKey(task.id.project, task.id.domain, name, digest)


def signature(types: Mapping[str, bytes]) -> str:
    """Names and types of variables in any order, without what only describes them (`metadata`, `annotation`)."""
    return _signature(tuple(sorted(types.items())))


@lru_cache(maxsize=256)
def _signature(types: tuple[tuple[str, bytes], ...]) -> str:
    plain = [[name, _plain(types_pb2.LiteralType.FromString(kind)).hex()] for name, kind in types]
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()


def _plain(kind: types_pb2.LiteralType) -> bytes:
    _strip(kind)
    return bytes(kind.SerializeToString(deterministic=True))


def _strip(kind: types_pb2.LiteralType) -> None:
    kind.ClearField("metadata")
    kind.ClearField("annotation")
    match kind.WhichOneof("type"):
        case "collection_type":
            _strip(kind.collection_type)
        case "map_value_type":
            _strip(kind.map_value_type)
        case "union_type":
            for variant in kind.union_type.variants:
                _strip(variant)
        case "structured_dataset_type":
            for column in kind.structured_dataset_type.columns:
                _strip(column.literal_type)
    for field in kind.structure.dataclass_type.values() if kind.HasField("structure") else ():
        _strip(field)


def _inner_name(task: TaskSpec) -> str:
    """The mapped task's, by the command that loads it; the map's own where the command does not say.

    The map's name depends on the bound inputs, the concurrency and the success ratio.
    """
    argv = container_of(task).argv
    parts = [argv[argv.index(word) + 1] for word in (_MODULE, _NAME) if word in argv[:-1]]
    return ".".join(parts) if len(parts) == 2 else task.id.name


def _item(declared: bytes, *, optional: bool = False) -> bytes:
    """The type of a list's items; `optional`: flytekit has put them into a union with None. Other types as they are."""
    kind = types_pb2.LiteralType.FromString(declared)
    if kind.WhichOneof("type") != "collection_type":
        return declared
    item = kind.collection_type
    variants = [one for one in item.union_type.variants if one.simple != types_pb2.NONE]
    if optional and len(variants) == 1:
        item = variants[0]
        # What tells the variants of a union apart.
        item.ClearField("structure")
    return bytes(item.SerializeToString(deterministic=True))
