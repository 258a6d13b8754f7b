from __future__ import annotations

import pytest
from flyteidl.core.types_pb2 import BlobType, EnumType, LiteralType, SchemaType

from engine.wire.typenames import type_name
from tests.literal_types import (
    BOOL,
    BYTES,
    COLOUR,
    DATASET,
    DATETIME,
    DICT,
    DIRECTORY,
    DURATION,
    FILE,
    FLOAT,
    INNER,
    INT,
    PICKLE,
    STR,
    list_of,
    map_of,
    optional,
    record,
    union,
)


@pytest.mark.parametrize(
    ("declared", "name"),
    [
        (INT, "int"),
        (list_of(STR), "list[str]"),
        (map_of(list_of(FLOAT)), "dict[str, list[float]]"),
        (optional(DATETIME), "datetime | None"),
        (list_of(optional(BOOL)), "list[bool | None]"),
        (union(INT, DURATION, BYTES), "int | duration | bytes"),
        (COLOUR, "enum(red|green)"),
        (LiteralType(enum_type=EnumType(values=list("abcdefghij"))), "enum(a|b|c|d|e|f|g|h|…)"),
        (record(INNER), "Inner"),
        (record({"pb_type": "google.protobuf.struct_pb2.Struct"}), "Struct"),
        (DICT, "dict"),
        (FILE, "file"),
        (LiteralType(blob=BlobType(format="jpeg")), "file[jpeg]"),
        (DIRECTORY, "directory"),
        (DATASET, "structured dataset"),
        (LiteralType(schema=SchemaType()), "schema"),
        (PICKLE, "pickle[typing.Any]"),
        (LiteralType(), "undeclared"),
    ],
)
def test_name(declared: LiteralType, name: str) -> None:
    assert type_name(declared) == name
