"""What containers print is read by the declared type; what is none of it says what was expected."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flyteidl.core import literals_pb2, types_pb2
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st

from engine.data.fromtext import literal_of
from engine.data.inline import as_text

NAMES = ("INTEGER", "FLOAT", "BOOLEAN", "STRING", "DATETIME", "DURATION", "STRUCT")
SIMPLE = {name: types_pb2.LiteralType(simple=name) for name in NAMES}
ENUM = types_pb2.LiteralType(enum_type=types_pb2.EnumType(values=["red", "green"]))


def value(text: str, kind: str) -> Any:
    primitive = literal_of(text, SIMPLE[kind]).scalar.primitive
    found = getattr(primitive, primitive.WhichOneof("value") or "")
    if kind == "DATETIME":
        return found.ToDatetime(UTC)
    return found.ToTimedelta() if kind == "DURATION" else found


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        (" 5\n", "INTEGER", 5),
        ("-9223372036854775808", "INTEGER", -(2**63)),
        ("2.5\n", "FLOAT", 2.5),
        ("1e-7", "FLOAT", 1e-7),
        ("+Inf", "FLOAT", math.inf),
        ("TRUE\n", "BOOLEAN", True),
        ("0", "BOOLEAN", False),
        ("  as it is \n", "STRING", "  as it is \n"),
        ("", "STRING", ""),
        ("2024-05-17T09:30:00Z\n", "DATETIME", datetime(2024, 5, 17, 9, 30, tzinfo=UTC)),
        ("2024-05-17 11:30:00.25+02:00", "DATETIME", datetime(2024, 5, 17, 9, 30, 0, 250_000, tzinfo=UTC)),
        ("2024-05-17T09:30:00", "DATETIME", datetime(2024, 5, 17, 9, 30, tzinfo=UTC)),
        ("1h2m3.5s\n", "DURATION", timedelta(hours=1, minutes=2, seconds=3.5)),
        ("-250ms", "DURATION", timedelta(milliseconds=-250)),
        ("0", "DURATION", timedelta()),
        ("2 days, 3:04:05.5", "DURATION", timedelta(days=2, hours=3, minutes=4, seconds=5.5)),
        ("-1 day, 23:00:00", "DURATION", timedelta(hours=-1)),
    ],
)
def test_what_is_read(text: str, kind: str, expected: object) -> None:
    assert value(text, kind) == expected


def test_objects_and_members() -> None:
    found = literal_of('{"a": [1, "x", null]}\n', SIMPLE["STRUCT"]).scalar.generic
    assert MessageToDict(found) == {"a": [1, "x", None]}
    assert literal_of("green\n", ENUM).scalar.primitive.string_value == "green"


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("5.0", "INTEGER", "a whole number of 64 bits"),
        ("1_000", "INTEGER", "a whole number of 64 bits"),
        ("9223372036854775808", "INTEGER", "a whole number of 64 bits"),
        ("", "INTEGER", "a whole number of 64 bits"),
        ("two", "FLOAT", "a number"),
        ("yes", "BOOLEAN", "true or false"),
        ("soon", "DATETIME", "a moment such as 2024-05-17T09:30:00Z"),
        ("5", "DURATION", "a duration such as 1h30m5.5s"),
        ("[1]", "STRUCT", "a JSON object"),
        ("{", "STRUCT", "a JSON object"),
    ],
)
def test_what_is_refused(text: str, kind: str, expected: str) -> None:
    with pytest.raises(ValueError, match=f"^{expected}$"):
        literal_of(text, SIMPLE[kind])


def test_a_member_that_is_none() -> None:
    with pytest.raises(ValueError, match="one of red, green"):
        literal_of("blue", ENUM)


@given(
    st.one_of(
        st.integers(-(2**63), 2**63 - 1).map(lambda it: ("INTEGER", literals_pb2.Primitive(integer=it))),
        st.floats(allow_nan=False, allow_infinity=False)
        .map(abs)
        .map(lambda it: ("FLOAT", literals_pb2.Primitive(float_value=it))),
        st.booleans().map(lambda it: ("BOOLEAN", literals_pb2.Primitive(boolean=it))),
        st.text().map(lambda it: ("STRING", literals_pb2.Primitive(string_value=it))),
    )
)
def test_a_value_comes_back_from_its_text(pair: tuple[str, literals_pb2.Primitive]) -> None:
    kind, primitive = pair
    literal = literals_pb2.Literal(scalar=literals_pb2.Scalar(primitive=primitive))
    assert literal_of(as_text(literal.SerializeToString()), SIMPLE[kind]) == literal
