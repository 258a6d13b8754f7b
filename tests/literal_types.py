"""flyteidl types as flytekit declares them, made by hand so that tests of them need no flytekit."""

from __future__ import annotations

from typing import Any

from flyteidl.core.types_pb2 import (
    BlobType,
    EnumType,
    LiteralType,
    SimpleType,
    StructuredDatasetType,
    TypeAnnotation,
    TypeStructure,
    UnionType,
)
from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct

INT = LiteralType(simple=SimpleType.INTEGER)
FLOAT = LiteralType(simple=SimpleType.FLOAT)
STR = LiteralType(simple=SimpleType.STRING)
BOOL = LiteralType(simple=SimpleType.BOOLEAN)
DATETIME = LiteralType(simple=SimpleType.DATETIME)
DURATION = LiteralType(simple=SimpleType.DURATION)
NONE = LiteralType(simple=SimpleType.NONE)
BYTES = LiteralType(simple=SimpleType.BINARY)
COLOUR = LiteralType(enum_type=EnumType(values=["red", "green"]))
FILE = LiteralType(blob=BlobType(dimensionality=BlobType.SINGLE))
DIRECTORY = LiteralType(blob=BlobType(dimensionality=BlobType.MULTIPART))
PICKLE = LiteralType(
    blob=BlobType(format="PythonPickle"), metadata=json_format.ParseDict({"python_class_name": "typing.Any"}, Struct())
)
DATASET = LiteralType(structured_dataset_type=StructuredDatasetType())
MSGPACK = TypeAnnotation(
    annotations=json_format.ParseDict({"cache-key-metadata": {"serialization-format": "msgpack"}}, Struct())
)
DICT = LiteralType(simple=SimpleType.STRUCT, annotation=MSGPACK)
INNER = {
    "title": "Inner",
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "number", "default": 1.5}},
    "required": ["a"],
    "additionalProperties": False,
}


def list_of(inner: LiteralType) -> LiteralType:
    return LiteralType(collection_type=inner)


def map_of(inner: LiteralType) -> LiteralType:
    return LiteralType(map_value_type=inner)


def union(*variants: LiteralType) -> LiteralType:
    """Variants with a tag each, as flytekit makes them."""
    tagged = []
    for number, variant in enumerate(variants):
        copy = LiteralType()
        copy.CopyFrom(variant)
        copy.structure.CopyFrom(TypeStructure(tag=f"variant {number}"))
        tagged.append(copy)
    return LiteralType(union_type=UnionType(variants=tagged))


def optional(inner: LiteralType) -> LiteralType:
    return union(inner, NONE)


def record(schema: dict[str, Any], annotation: TypeAnnotation | None = MSGPACK) -> LiteralType:
    """The type of a dataclass or pydantic model with this JSON schema; without annotation, one of flytekit < 1.14."""
    metadata = json_format.ParseDict(schema, Struct())
    return LiteralType(simple=SimpleType.STRUCT, metadata=metadata, annotation=annotation)
