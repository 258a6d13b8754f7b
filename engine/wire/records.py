"""Dataclasses, pydantic models and dicts: a STRUCT type's value as flytekit reads it.

flytekit >= 1.14 keeps them as msgpack and says so in the type's annotation. A type without it comes from an older
flytekit, which reads a protobuf Struct only (newer ones read it too).
"""

from __future__ import annotations

import msgpack
from flyteidl.core.literals_pb2 import Binary, Scalar
from flyteidl.core.types_pb2 import LiteralType
from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct as JsonStruct

from engine.wire.mistakes import Mismatch, Mistakes
from engine.wire.natural import MSGPACK, as_json
from engine.wire.schemas import schema_of
from engine.wire.shapes import Shaper

_DEEPEST_MSGPACK = 100
_DEEPEST_STRUCT = 25
"""Levels of lists and objects: protobuf readers stop at 100 messages, and one level takes up to three."""


def record(value: object, declared: LiteralType, where: str, mistakes: Mistakes) -> Scalar:
    packed = _is_msgpack(declared)
    schema = schema_of(declared)
    shaped = Shaper(schema, mistakes, _DEEPEST_MSGPACK if packed else _DEEPEST_STRUCT).shape(value, schema, where)
    if mistakes.count:
        return Scalar()
    if packed:
        return Scalar(binary=Binary(value=msgpack.packb(shaped), tag=MSGPACK))
    fields = as_json(shaped)
    if not isinstance(fields, dict):
        raise Mismatch
    return Scalar(generic=json_format.ParseDict(fields, JsonStruct()))


def _is_msgpack(declared: LiteralType) -> bool:
    annotations = declared.annotation.annotations.fields
    if "cache-key-metadata" not in annotations:
        return False
    metadata = annotations["cache-key-metadata"].struct_value.fields
    return "serialization-format" in metadata and metadata["serialization-format"].string_value == MSGPACK
