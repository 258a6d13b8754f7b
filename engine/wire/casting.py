"""Can a value of one type be given where another is declared? Flyte's compiler's rules, a little more lenient.

The rules are those of Flyte 1 for simple types, lists, maps, unions and enums (an `int` is no `float`, an `int | None`
is no `int`). More is let through where flytekit itself converts: dataclasses and other structs among each other, data
sets of any columns, files of a format to files of any.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from flyteidl.core.types_pb2 import BlobType, LiteralType, SimpleType

PICKLE = "PythonPickle"
"""Format of the blobs that hold what flytekit has no transformer for."""

_STRUCTS = frozenset({SimpleType.STRUCT, SimpleType.BINARY})
_TABLES = frozenset({"schema", "structured_dataset_type"})


@lru_cache(maxsize=4096)
def castable_bytes(source: bytes, target: bytes) -> bool:
    """The same for serialized types; most nodes of a workflow share few of them."""
    return source == target or castable(LiteralType.FromString(source), LiteralType.FromString(target))


def castable(source: LiteralType, target: LiteralType) -> bool:
    """True if every value of `source` may stand where `target` is declared."""
    given, wanted = source.WhichOneof("type"), target.WhichOneof("type")
    if given is None or wanted is None:
        return True
    if given == "union_type":
        return all(castable(variant, target) for variant in source.union_type.variants)
    if wanted == "union_type":
        return any(castable(source, variant) for variant in target.union_type.variants)
    if _is_struct(source) or _is_struct(target):
        return all(_is_struct(kind) or kind.WhichOneof("type") == "map_value_type" for kind in (source, target))
    if "enum_type" in (given, wanted):
        return _enum_castable(source, target)
    if given in _TABLES and wanted in _TABLES:
        return True
    return given == wanted and _same_shape(given, source, target)


def _same_shape(shape: str, source: LiteralType, target: LiteralType) -> bool:
    match shape:
        case "simple":
            return source.simple == target.simple
        case "collection_type":
            return is_none(source.collection_type) or castable(source.collection_type, target.collection_type)
        case "map_value_type":
            return is_none(source.map_value_type) or castable(source.map_value_type, target.map_value_type)
        case _:
            return _blob_castable(source.blob, target.blob)


def is_none(kind: LiteralType) -> bool:
    return kind.WhichOneof("type") == "simple" and kind.simple == SimpleType.NONE


def accepts_none(kind: LiteralType) -> bool:
    """An Optional."""
    return any(is_none(variant) for variant in kind.union_type.variants)


def _is_struct(kind: LiteralType) -> bool:
    """A dataclass, an untyped dict, a pydantic model: what each holds shows only at run time."""
    return kind.WhichOneof("type") == "simple" and kind.simple in _STRUCTS


def _enum_castable(source: LiteralType, target: LiteralType) -> bool:
    if source.WhichOneof("type") == target.WhichOneof("type"):
        return set(source.enum_type.values) <= set(target.enum_type.values)
    other = target if source.WhichOneof("type") == "enum_type" else source
    return other.WhichOneof("type") == "simple" and other.simple == SimpleType.STRING


def _blob_castable(source: BlobType, target: BlobType) -> bool:
    if source.dimensionality != target.dimensionality:
        return False
    if PICKLE in (source.format, target.format):
        return source.format == target.format
    return source.format == target.format or not source.format or not target.format


def step_into(source: LiteralType, path: Sequence[str | int]) -> LiteralType | None:
    """The type at the end of an attribute path (`box.sizes["a"]`), or None where the types do not tell."""
    for step in path:
        match source.WhichOneof("type"):
            case "collection_type" if isinstance(step, int):
                source = source.collection_type
            case "map_value_type" if isinstance(step, str):
                source = source.map_value_type
            case "simple" if isinstance(step, str) and step in source.structure.dataclass_type:
                source = source.structure.dataclass_type[step]
            case _:
                return None
    return source
