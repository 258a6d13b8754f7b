from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from flyteidl.core.literals_pb2 import Literal, Primitive, Scalar
from flyteidl.core.types_pb2 import LiteralType
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from engine.wire.literals import to_literal
from tests.literal_types import BOOL, BYTES, COLOUR, DATETIME, DURATION, FLOAT, INT, STR, list_of, map_of


def primitive(**value: object) -> Literal:
    return Literal(scalar=Scalar(primitive=Primitive(**value)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "declared", "expected"),
    [
        ("42", INT, primitive(integer=42)),
        (" -7 ", INT, primitive(integer=-7)),
        ("9223372036854775807", INT, primitive(integer=2**63 - 1)),
        (-(2**63), INT, primitive(integer=-(2**63))),
        ("3", FLOAT, primitive(float_value=3.0)),
        ("-1.5e3", FLOAT, primitive(float_value=-1500.0)),
        ("inf", FLOAT, primitive(float_value=float("inf"))),
        (3, FLOAT, primitive(float_value=3.0)),
        ("Yes", BOOL, primitive(boolean=True)),
        ("1", BOOL, primitive(boolean=True)),
        ("false", BOOL, primitive(boolean=False)),
        ("0", BOOL, primitive(boolean=False)),
        (False, BOOL, primitive(boolean=False)),
        ("null", STR, primitive(string_value="null")),
        ("", STR, primitive(string_value="")),
        ("grün 🌱", STR, primitive(string_value="grün 🌱")),
        ("red", COLOUR, primitive(string_value="red")),
        ("2024-01-01T00:00:01Z", DATETIME, primitive(datetime=Timestamp(seconds=1704067201))),
        (datetime(2024, 1, 1, tzinfo=UTC), DATETIME, primitive(datetime=Timestamp(seconds=1704067200))),
        (date(2024, 1, 1), DATETIME, primitive(datetime=Timestamp(seconds=1704067200))),
        ("90s", DURATION, primitive(duration=Duration(seconds=90))),
        (-1.5, DURATION, primitive(duration=Duration(seconds=-1, nanos=-500_000_000))),
        (timedelta(microseconds=1), DURATION, primitive(duration=Duration(nanos=1_000))),
    ],
)
def test_text_or_value_becomes_the_literal(value: object, declared: LiteralType, expected: Literal) -> None:
    assert to_literal(value, declared, "--x") == expected


def test_base64_text_becomes_bytes() -> None:
    assert to_literal("AP8=", BYTES, "--x").scalar.binary.value == b"\x00\xff"


def test_json_text_becomes_a_list_or_a_map() -> None:
    numbers = to_literal("[1, 2]", list_of(INT), "--x")
    assert [item.scalar.primitive.integer for item in numbers.collection.literals] == [1, 2]
    rates = to_literal('{"a": 1}', map_of(FLOAT), "--x")
    assert {key: item.scalar.primitive.float_value for key, item in rates.map.literals.items()} == {"a": 1.0}


def test_an_empty_list_and_an_empty_map_are_set_not_missing() -> None:
    assert to_literal("[]", list_of(INT), "--x").WhichOneof("value") == "collection"
    assert to_literal("{}", map_of(INT), "--x").WhichOneof("value") == "map"
