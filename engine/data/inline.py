"""A value as text inside a command: `{{ .inputs.x }}`."""

from __future__ import annotations

from flyteidl.core import literals_pb2
from google.protobuf import duration_pb2, timestamp_pb2
from google.protobuf.message import DecodeError

from engine.data.framing import Data
from engine.data.literals import unwrapped


class NoText(Exception):
    """The value has no text form."""


def as_text(literal: Data) -> str:
    """Numbers, truth values, texts, times, URIs, and lists of them as `[a,b]`. Raises NoText, CorruptMessage."""
    try:
        return _text(literals_pb2.Literal.FromString(bytes(unwrapped(literal))))
    except DecodeError as problem:
        raise NoText(f"a value that can't be read: {problem}") from problem


def _text(literal: literals_pb2.Literal) -> str:
    kind = literal.WhichOneof("value")
    if kind == "collection":
        return "[" + ",".join(_text(item) for item in literal.collection.literals) + "]"
    if kind != "scalar":
        raise NoText(f"a {(kind or 'missing value').replace('_', ' ')}")
    scalar = literal.scalar
    match scalar.WhichOneof("value"):
        case "primitive":
            return _primitive(scalar.primitive)
        case "blob":
            return str(scalar.blob.uri)
        case "schema":
            return str(scalar.schema.uri)
        case "union":
            return _text(scalar.union.value)
        case found:
            raise NoText(f"a {(found or 'missing value').replace('_', ' ')}")


def _primitive(primitive: literals_pb2.Primitive) -> str:
    match primitive.WhichOneof("value"):
        case "integer":
            return str(primitive.integer)
        case "float_value":
            return _number(primitive.float_value)
        case "boolean":
            return "true" if primitive.boolean else "false"
        case "string_value":
            return str(primitive.string_value)
        case "datetime":
            return _instant(primitive.datetime)
        case "duration":
            return _duration(primitive.duration)
    raise NoText("a missing value")


def _number(value: float) -> str:
    """As Go prints it: the shortest text, whole numbers without a point."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e21 else repr(value)


def _instant(timestamp: timestamp_pb2.Timestamp) -> str:
    """RFC 3339 in UTC."""
    return str(timestamp.ToJsonString())


def _duration(duration: duration_pb2.Duration) -> str:
    """As Go prints it: `1h2m3.5s`, `0s`, `250ms` below one second."""
    nanoseconds = duration.ToNanoseconds()
    sign, left = ("-" if nanoseconds < 0 else ""), abs(nanoseconds)
    if left == 0:
        return "0s"
    for unit, size in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
        if left < size * 1000:
            return f"{sign}{_decimal(left, size)}{unit}"
    minutes, left = divmod(left, 60_000_000_000)
    hours, minutes = divmod(minutes, 60)
    seconds = f"{_decimal(left, 1_000_000_000)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{seconds}"
    return f"{sign}{minutes}m{seconds}" if minutes else f"{sign}{seconds}"


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    digits = f"{rest:0{len(str(unit)) - 1}d}".rstrip("0") if rest else ""
    return f"{whole}.{digits}" if digits else str(whole)
