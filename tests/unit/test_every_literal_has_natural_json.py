from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import msgpack
import pytest
from flyteidl.core.literals_pb2 import (
    Binary,
    Blob,
    Literal,
    LiteralCollection,
    LiteralMap,
    LiteralOffloadedMetadata,
    Primitive,
    Scalar,
    Schema,
    StructuredDataset,
    Union,
    Void,
)
from flyteidl.core.types_pb2 import Error
from google.protobuf import json_format
from google.protobuf.duration_pb2 import Duration
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from engine.wire.natural import natural


def scalar(**value: object) -> Literal:
    return Literal(scalar=Scalar(**value))  # type: ignore[arg-type]


def primitive(**value: object) -> Literal:
    return scalar(primitive=Primitive(**value))  # type: ignore[arg-type]


def packed(value: object) -> Literal:
    return scalar(binary=Binary(value=msgpack.packb(value, datetime=True), tag="msgpack"))


def items(*literals: Literal) -> Literal:
    return Literal(collection=LiteralCollection(literals=literals))


def struct(value: dict[str, Any]) -> Literal:
    return scalar(generic=json_format.ParseDict(value, Struct()))


REFERENCE = Literal(offloaded_metadata=LiteralOffloadedMetadata(uri="s3://b/o", size_bytes=20_000_000))
DOCUMENT = {"a": [1, 2.5, None, True, "x"], "b": {"c": []}}


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        (primitive(integer=-(2**63)), -(2**63)),
        (primitive(float_value=0.1), 0.1),
        (primitive(float_value=float("nan")), "NaN"),
        (primitive(float_value=float("inf")), "Infinity"),
        (primitive(float_value=float("-inf")), "-Infinity"),
        (primitive(boolean=False), False),
        (primitive(string_value=""), ""),
        (primitive(datetime=Timestamp(seconds=1704070923, nanos=456789000)), "2024-01-01T01:02:03.456789Z"),
        (primitive(datetime=Timestamp(seconds=1 << 40)), 1 << 40),
        (primitive(duration=Duration(seconds=90)), 90),
        (primitive(duration=Duration(seconds=-1, nanos=-500_000_000)), -1.5),
        (scalar(none_type=Void()), None),
        (Literal(), None),
        (scalar(union=Union(value=primitive(integer=3))), 3),
        (scalar(blob=Blob(uri="s3://b/k")), "s3://b/k"),
        (scalar(schema=Schema(uri="s3://b/s")), "s3://b/s"),
        (scalar(structured_dataset=StructuredDataset(uri="s3://b/d")), "s3://b/d"),
        (scalar(error=Error(message="boom", failed_node_id="n1")), {"message": "boom", "failed_node_id": "n1"}),
        (scalar(binary=Binary(value=b"\x00\xff")), "AP8="),
        (scalar(binary=Binary(value=b"\xc1", tag="msgpack")), "wQ=="),
        (packed(DOCUMENT), DOCUMENT),
        (packed({"n": float("nan"), "b": b"\xff"}), {"n": "NaN", "b": "/w=="}),
        (packed({2: "a", None: "b", True: "c"}), {"2": "a", "null": "b", "true": "c"}),
        (packed(datetime(2024, 1, 1, tzinfo=UTC)), "2024-01-01T00:00:00Z"),
        (struct(DOCUMENT), DOCUMENT),
        (struct({"whole": 2.0}), {"whole": 2}),
        (items(), []),
        (items(items(primitive(integer=1)), items()), [[1], []]),
        (Literal(map=LiteralMap(literals={"b": primitive(integer=2), "a": items()})), {"a": [], "b": 2}),
        (REFERENCE, {"offloaded": {"uri": "s3://b/o", "size_bytes": 20_000_000}}),
        (items(REFERENCE), [{"offloaded": {"uri": "s3://b/o", "size_bytes": 20_000_000}}]),
    ],
)
def test_natural(literal: Literal, expected: object) -> None:
    found = natural(literal)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("levels", [201, 500, 900])
def test_msgpack_nested_without_end_is_shown_as_bytes(levels: int) -> None:
    endless = b"\x91" * levels + b"\xc0"
    assert natural(scalar(binary=Binary(value=endless, tag="msgpack"))) == base64.b64encode(endless).decode()


def test_msgpack_nested_as_deep_as_people_do_is_shown() -> None:
    deep = natural(scalar(binary=Binary(value=b"\x91" * 100 + b"\xc0", tag="msgpack")))
    assert str(deep) == "[" * 100 + "None" + "]" * 100


def test_keys_of_a_map_are_sorted() -> None:
    literal = Literal(map=LiteralMap(literals={key: primitive(integer=1) for key in "zebra"}))
    assert list(natural(literal)) == ["a", "b", "e", "r", "z"]  # type: ignore[arg-type]
