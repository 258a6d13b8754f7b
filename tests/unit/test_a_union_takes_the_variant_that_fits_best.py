from __future__ import annotations

import pytest
from flyteidl.core.types_pb2 import LiteralType

from engine.model.errors import BadInput
from engine.wire.literals import to_literal
from engine.wire.natural import natural
from engine.wire.variants import Quoted
from tests.literal_types import (
    BOOL,
    COLOUR,
    DATETIME,
    DURATION,
    FLOAT,
    INNER,
    INT,
    NONE,
    STR,
    list_of,
    map_of,
    optional,
    record,
    union,
)

POINT = record({**INNER, "title": "Point", "properties": {"x": {"type": "integer"}}, "required": ["x"]})


@pytest.mark.parametrize(
    ("value", "declared", "variant", "expected"),
    [
        ("3", union(STR, FLOAT, INT), 2, 3),
        ("3", union(STR, FLOAT), 1, 3.0),
        ("3.5", union(STR, INT, FLOAT), 2, 3.5),
        ("x", union(STR, INT), 0, "x"),
        ("1", union(BOOL, INT), 1, 1),
        ("true", union(STR, BOOL), 1, True),
        ("yes", union(STR, BOOL), 1, True),
        ("null", optional(STR), 1, None),
        ("None", optional(INT), 1, None),
        ("nothing", optional(STR), 0, "nothing"),
        (None, optional(STR), 1, None),
        ("red", union(STR, COLOUR), 1, "red"),
        ("blue", union(STR, COLOUR), 0, "blue"),
        ("2024-01-01", union(STR, DATETIME), 1, "2024-01-01T00:00:00Z"),
        ("[1]", union(STR, list_of(INT)), 1, [1]),
        ("[oops", union(STR, list_of(INT)), 0, "[oops"),
        (3, union(FLOAT, INT), 1, 3),
        (3, union(DURATION, FLOAT), 1, 3.0),
        (3.0, union(INT, FLOAT), 1, 3.0),
        (["a"], union(list_of(INT), list_of(STR)), 1, ["a"]),
        ({"x": 1}, union(record(INNER), POINT), 1, {"x": 1}),
        ({"a": 1}, union(record(INNER), POINT), 0, {"a": 1, "b": 1.5}),
        ({"a": 1}, union(POINT, map_of(INT)), 1, {"a": 1}),
    ],
)
def test_variant(value: object, declared: LiteralType, variant: int, expected: object) -> None:
    literal = to_literal(value, declared, "--x")
    assert literal.scalar.union.type == declared.union_type.variants[variant]
    assert natural(literal) == expected


@pytest.mark.parametrize(("value", "declared"), [("3", union(INT, STR)), ("null", optional(STR))])
def test_a_string_of_an_inputs_file_stays_a_string(value: str, declared: LiteralType) -> None:
    assert natural(to_literal(Quoted(value), declared, "--x")) == value


def test_strings_inside_json_stay_strings() -> None:
    literal = to_literal('["3", 3, null]', list_of(union(INT, STR, NONE)), "--x")
    assert natural(literal) == ["3", 3, None]


def test_a_value_that_no_variant_takes() -> None:
    with pytest.raises(BadInput) as caught:
        to_literal("x", union(INT, DATETIME, NONE), "--x")
    assert str(caught.value) == '--x: expected int | datetime | None, got "x"'


def test_an_optional_dataclass_names_the_wrong_field() -> None:
    with pytest.raises(BadInput) as caught:
        to_literal('{"a": "x"}', optional(record(INNER)), "--x")
    assert str(caught.value) == '--x.a: expected int, got "x"'
