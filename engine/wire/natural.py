"""Literals as natural JSON, for people: what `propwash get` prints and `--json` holds.

datetime -> ISO 8601 with `Z`; duration -> seconds; nan, infinities -> "NaN", "Infinity", "-Infinity"; bytes -> base64;
blob, schema, structured dataset -> its URI; dataclass, dict -> an object; an offloaded value -> {"offloaded": ...}.
"""

from __future__ import annotations

import base64
import math

import msgpack
from flyteidl.core.literals_pb2 import Binary, Literal, LiteralMap, Primitive, Scalar
from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Struct as JsonStruct
from google.protobuf.struct_pb2 import Value

from engine.model.errors import BadInput
from engine.wire.moments import SECOND, instant_text, seconds_number

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
MSGPACK = "msgpack"
"""`Binary.tag` of a dataclass, pydantic model or dict, since flytekit 1.14."""


def natural_map(data: bytes, where: str = "these bytes") -> dict[str, Json]:
    """A serialized `LiteralMap` as natural JSON, sorted by name. Raises BadInput, naming `where`, if it is none."""
    try:
        literals = LiteralMap.FromString(data).literals
    except DecodeError as error:
        raise BadInput(
            f"{where}: {len(data):,} bytes that are no LiteralMap (cut short or damaged): {error}"
        ) from error
    return {name: natural(literals[name]) for name in sorted(literals)}


def natural(literal: Literal) -> Json:
    """The JSON value that a person would write for it. Keys of a map are sorted: a protobuf map has no order."""
    match literal.WhichOneof("value"):
        case "scalar":
            return _scalar(literal.scalar)
        case "collection":
            return [natural(item) for item in literal.collection.literals]
        case "map":
            items = literal.map.literals
            return {key: natural(items[key]) for key in sorted(items)}
        case "offloaded_metadata":
            reference = literal.offloaded_metadata
            return {"offloaded": {"uri": reference.uri, "size_bytes": reference.size_bytes}}
    return None


def struct_json(struct: JsonStruct) -> dict[str, Json]:
    """A protobuf Struct as JSON; it holds every number as a double, so whole ones are taken for integers."""
    return {key: _value(value) for key, value in struct.fields.items()}


def _scalar(scalar: Scalar) -> Json:
    match scalar.WhichOneof("value"):
        case "primitive":
            return _primitive(scalar.primitive)
        case "union":
            return natural(scalar.union.value)
        case "binary":
            return _binary(scalar.binary)
        case "generic":
            return struct_json(scalar.generic)
        case "blob":
            return scalar.blob.uri
        case "structured_dataset":
            return scalar.structured_dataset.uri
        case "schema":
            return scalar.schema.uri
        case "error":
            return {"message": scalar.error.message, "failed_node_id": scalar.error.failed_node_id}
    return None


def _primitive(primitive: Primitive) -> Json:
    match primitive.WhichOneof("value"):
        case "integer":
            return primitive.integer
        case "float_value":
            return _number(primitive.float_value)
        case "string_value":
            return primitive.string_value
        case "boolean":
            return primitive.boolean
        case "datetime":
            return _instant(primitive.datetime.seconds * SECOND + primitive.datetime.nanos)
        case "duration":
            return seconds_number(primitive.duration.seconds * SECOND + primitive.duration.nanos)
    return None


DEEPEST = 200
"""Levels of lists and maps in one another that are shown; no document of a person's is deeper."""


def _number(value: float) -> Json:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _instant(nanoseconds: int) -> Json:
    """A moment that no calendar holds is shown as seconds since the epoch."""
    try:
        return instant_text(nanoseconds)
    except ValueError:
        return seconds_number(nanoseconds)


def _binary(binary: Binary) -> Json:
    """Bytes that claim to be msgpack and are not are shown as the bytes that they are."""
    if binary.tag == MSGPACK:
        try:
            return as_json(msgpack.unpackb(binary.value, strict_map_key=False, unicode_errors="replace"))
        except (ValueError, TypeError, RecursionError, msgpack.UnpackException):
            pass
    return base64.b64encode(binary.value).decode()


def as_json(value: object, depth: int = 0) -> Json:
    """What msgpack can hold, as JSON. Raises RecursionError beyond DEEPEST levels, the same on every Python."""
    if depth > DEEPEST:
        raise RecursionError(f"more than {DEEPEST} levels")
    match value:
        case float():
            return _number(value)
        case None | bool() | int() | str():
            return value
        case msgpack.Timestamp():
            return _instant(value.to_unix_nano())
        case msgpack.ExtType():
            return base64.b64encode(value.data).decode()
        case bytes():
            return base64.b64encode(value).decode()
        case list() | tuple():
            return [as_json(item, depth + 1) for item in value]
        case dict():
            return {_key(key): as_json(item, depth + 1) for key, item in value.items()}
    raise TypeError(f"msgpack has no {type(value).__name__}")


def _key(key: object) -> str:
    """As `json.dumps` writes keys that are no text."""
    match as_json(key):
        case str(text):
            return text
        case bool(truth):
            return "true" if truth else "false"
        case None:
            return "null"
        case other:
            return str(other)


def _value(value: Value) -> Json:
    match value.WhichOneof("kind"):
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else _number(number)
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case "struct_value":
            return struct_json(value.struct_value)
        case "list_value":
            return [_value(item) for item in value.list_value.values]
    return None
