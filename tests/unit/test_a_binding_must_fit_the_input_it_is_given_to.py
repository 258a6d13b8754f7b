"""Flyte's compiler's rules, more lenient where flytekit converts between types itself."""

from __future__ import annotations

import pytest
from flyteidl.core.types_pb2 import BlobType, EnumType, LiteralType, SchemaType

from engine.wire.casting import castable, castable_bytes, step_into
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
    INT,
    NONE,
    PICKLE,
    STR,
    list_of,
    map_of,
    optional,
    record,
    union,
)

RED = LiteralType(enum_type=EnumType(values=["red"]))
CSV = LiteralType(blob=BlobType(format="csv"))
JPEG = LiteralType(blob=BlobType(format="jpeg"))
SCHEMA = LiteralType(schema=SchemaType())
POINT = record({"title": "Point"})
BOX = record({"title": "Box"})
UNKNOWN = LiteralType()

FITS = [
    (INT, INT),
    (STR, COLOUR),
    (COLOUR, STR),
    (RED, COLOUR),
    (INT, optional(INT)),
    (NONE, optional(INT)),
    (optional(INT), optional(INT)),
    (optional(INT), union(STR, INT, NONE)),
    (union(INT, INT), INT),
    (list_of(INT), list_of(INT)),
    (list_of(INT), list_of(optional(INT))),
    (list_of(NONE), list_of(STR)),
    (list_of(INT), union(INT, list_of(INT))),
    (map_of(INT), map_of(INT)),
    (map_of(NONE), map_of(INT)),
    (map_of(list_of(INT)), map_of(list_of(optional(INT)))),
    (POINT, BOX),
    (DICT, POINT),
    (DICT, map_of(INT)),
    (map_of(INT), DICT),
    (BYTES, BYTES),
    (FILE, FILE),
    (CSV, FILE),
    (FILE, CSV),
    (PICKLE, PICKLE),
    (DATASET, SCHEMA),
    (DATETIME, DATETIME),
    (UNKNOWN, INT),
    (list_of(UNKNOWN), list_of(INT)),
]
DIFFERS = [
    (INT, FLOAT),
    (FLOAT, INT),
    (INT, STR),
    (INT, BOOL),
    (DATETIME, DURATION),
    (COLOUR, RED),
    (COLOUR, INT),
    (optional(INT), INT),
    (optional(STR), optional(INT)),
    (NONE, INT),
    (INT, list_of(INT)),
    (list_of(INT), INT),
    (list_of(optional(INT)), list_of(INT)),
    (list_of(INT), list_of(STR)),
    (list_of(INT), map_of(INT)),
    (map_of(INT), map_of(STR)),
    (POINT, INT),
    (POINT, list_of(INT)),
    (list_of(POINT), list_of(INT)),
    (CSV, JPEG),
    (FILE, DIRECTORY),
    (FILE, STR),
    (FILE, PICKLE),
    (INT, PICKLE),
    (DATASET, FILE),
]


@pytest.mark.parametrize(("source", "target"), FITS)
def test_fits(source: LiteralType, target: LiteralType) -> None:
    assert castable(source, target)
    assert castable_bytes(source.SerializeToString(), target.SerializeToString())


@pytest.mark.parametrize(("source", "target"), DIFFERS)
def test_does_not_fit(source: LiteralType, target: LiteralType) -> None:
    assert not castable(source, target)
    assert not castable_bytes(source.SerializeToString(), target.SerializeToString())


def test_attributes_are_typed_as_far_as_the_types_tell() -> None:
    box = record({"title": "Box"})
    box.structure.dataclass_type["sizes"].CopyFrom(map_of(list_of(INT)))
    assert step_into(list_of(box), [0, "sizes", "a"]) == list_of(INT)
    assert step_into(list_of(box), [0, "sizes", "a", 3]) == INT
    assert step_into(list_of(box), [0, "unknown"]) is None
    assert step_into(DICT, ["a"]) is None
    assert step_into(INT, []) == INT
