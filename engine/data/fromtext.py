"""The value of a declared type from the text of a file: what `inline` writes, and what shells and Python print."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction

from flyteidl.core import literals_pb2, types_pb2
from google.protobuf import duration_pb2, json_format, struct_pb2, timestamp_pb2

_INTEGER = re.compile(r"[+-]?\d+\Z", re.ASCII)
_FLOAT = re.compile(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf(inity)?|nan)\Z", re.ASCII | re.IGNORECASE)
_TRUE, _FALSE = {"true", "t", "1"}, {"false", "f", "0"}
_NANOSECONDS = {"h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 1000, "µs": 1000, "ns": 1}
_TERMS = re.compile(r"([+-]?)((?:\d+(?:\.\d+)?(?:ms|us|µs|ns|h|m|s))+|0)\Z")
_TERM = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|h|m|s)")
_CLOCK = re.compile(r"(?:(-?\d+) days?, )?(\d+):(\d\d):(\d\d(?:\.\d+)?)\Z", re.ASCII)
"""How Python prints a timedelta."""


def literal_of(text: str, kind: types_pb2.LiteralType) -> literals_pb2.Literal:
    """Raises ValueError that says what was expected. Only of a string every character counts."""
    if kind.WhichOneof("type") == "enum_type":
        return _scalar(literals_pb2.Primitive(string_value=_member(text.strip(), list(kind.enum_type.values))))
    if kind.simple == types_pb2.STRING:
        return _scalar(literals_pb2.Primitive(string_value=text))
    text = text.strip()
    if kind.simple == types_pb2.STRUCT:
        return literals_pb2.Literal(scalar=literals_pb2.Scalar(generic=_struct(text)))
    return _scalar(_PRIMITIVES[kind.simple](text))


def _scalar(primitive: literals_pb2.Primitive) -> literals_pb2.Literal:
    return literals_pb2.Literal(scalar=literals_pb2.Scalar(primitive=primitive))


def _member(text: str, values: list[str]) -> str:
    if text not in values:
        raise ValueError(f"one of {', '.join(values)}")
    return text


def _struct(text: str) -> struct_pb2.Struct:
    try:
        return json_format.ParseDict(json.loads(text), struct_pb2.Struct())
    except (ValueError, AttributeError, json_format.ParseError):
        raise ValueError("a JSON object") from None


def _integer(text: str) -> literals_pb2.Primitive:
    if not _INTEGER.match(text) or not -(2**63) <= (number := int(text)) < 2**63:
        raise ValueError("a whole number of 64 bits")
    return literals_pb2.Primitive(integer=number)


def _float(text: str) -> literals_pb2.Primitive:
    if not _FLOAT.match(text):
        raise ValueError("a number")
    return literals_pb2.Primitive(float_value=float(text))


def _boolean(text: str) -> literals_pb2.Primitive:
    if text.lower() not in _TRUE | _FALSE:
        raise ValueError("true or false")
    return literals_pb2.Primitive(boolean=text.lower() in _TRUE)


def _datetime(text: str) -> literals_pb2.Primitive:
    moment = timestamp_pb2.Timestamp()
    try:
        moment.FromJsonString(text)
    except ValueError:
        try:
            plain = datetime.fromisoformat(text)
        except ValueError:
            raise ValueError("a moment such as 2024-05-17T09:30:00Z") from None
        moment.FromDatetime(plain if plain.tzinfo else plain.replace(tzinfo=UTC))
    return literals_pb2.Primitive(datetime=moment)


def _duration(text: str) -> literals_pb2.Primitive:
    made = duration_pb2.Duration()
    if terms := _TERMS.match(text):
        nanoseconds = sum(Fraction(number) * _NANOSECONDS[unit] for number, unit in _TERM.findall(text))
        made.FromNanoseconds(int(-nanoseconds if terms[1] == "-" else nanoseconds))
    elif clock := _CLOCK.match(text):
        days, hours, minutes, seconds = (Fraction(part or 0) for part in clock.groups())
        made.FromNanoseconds(int((days * 86400 + hours * 3600 + minutes * 60 + seconds) * 10**9))
    else:
        raise ValueError("a duration such as 1h30m5.5s")
    return literals_pb2.Primitive(duration=made)


_PRIMITIVES: dict[types_pb2.SimpleType, Callable[[str], literals_pb2.Primitive]] = {
    types_pb2.INTEGER: _integer,
    types_pb2.FLOAT: _float,
    types_pb2.BOOLEAN: _boolean,
    types_pb2.DATETIME: _datetime,
    types_pb2.DURATION: _duration,
}
