from __future__ import annotations

import pytest
from flyteidl.core.types_pb2 import LiteralType

from engine.model.errors import BadInput
from engine.wire.literals import to_literal
from tests.literal_types import (
    BOOL,
    COLOUR,
    DATETIME,
    DURATION,
    FLOAT,
    INT,
    NONE,
    PICKLE,
    STR,
    list_of,
    map_of,
    optional,
)


@pytest.mark.parametrize(
    ("value", "declared", "message"),
    [
        ("3.0", INT, '--x: expected int, got "3.0"'),
        (3.0, INT, "--x: expected int, got 3.0"),
        (True, INT, "--x: expected int, got true"),
        (2**63, INT, "--x: expected int, got 9223372036854775808: beyond the 64 bits that Flyte keeps"),
        ("1e999", FLOAT, '--x: expected float, got "1e999": too large for a float'),
        (True, FLOAT, "--x: expected float, got true"),
        ("maybe", BOOL, '--x: expected bool, got "maybe": write true or false'),
        (1, BOOL, "--x: expected bool, got 1: write true or false"),
        (1.1, STR, "--x: expected str, got 1.1: write it in quotes"),
        ("\udcff", STR, '--x: expected str, got "\\udcff": not valid Unicode'),
        ("blue", COLOUR, '--x: expected enum(red|green), got "blue": it must be one of red, green'),
        (5, DATETIME, "--x: expected datetime, got 5: write it as text, such as 2024-05-17T09:30:00Z"),
        ("0000-01-01", DATETIME, None),
        ("soon", DURATION, '--x: expected duration, got "soon": no duration such as 90s, 1h30m, 1:30:00 or PT1H30M'),
        ("x", NONE, '--x: expected None, got "x"'),
        ("x", optional(INT), '--x: expected int, got "x"'),
        ("{}", list_of(INT), '--x: expected list[int], got "{}"'),
        (
            "[1",
            list_of(INT),
            "--x: expected list[int], got \"[1\": neither JSON (line 1 column 3: Expecting ',' delimiter)",
        ),
        ([["a"], [1]], list_of(list_of(STR)), "--x[1][0]: expected str, got 1: write it in quotes"),
        ({"k v": "y"}, map_of(INT), '--x["k v"]: expected int, got "y"'),
        ({"key": None}, map_of(INT), "--x.key: expected int, got null"),
        ({1: 2}, map_of(INT), "--x[1]: expected a key that is text, got 1"),
        ("x", PICKLE, '--x: expected pickle[typing.Any], got "x": a pickled Python object can\'t be given as text'),
        ("x", LiteralType(), '--x: expected undeclared, got "x": its type is not declared'),
    ],
)
def test_message(value: object, declared: LiteralType, message: str | None) -> None:
    with pytest.raises(BadInput) as caught:
        to_literal(value, declared, "--x")
    assert message is None or str(caught.value).startswith(message)


def test_every_wrong_item_is_told() -> None:
    with pytest.raises(BadInput) as caught:
        to_literal('[1, 2.5, "3", 4]', list_of(INT), "--xs")
    assert str(caught.value) == '--xs[1]: expected int, got 2.5\n--xs[2]: expected int, got "3"'


@pytest.mark.parametrize("of", [INT, optional(INT)])
def test_beyond_thirty_problems_are_only_counted(of: LiteralType) -> None:
    with pytest.raises(BadInput) as caught:
        to_literal(["x"] * 1000, list_of(of), "--xs")
    lines = str(caught.value).splitlines()
    assert len(lines) == 31
    assert lines[-1] == "... and 970 more"


def test_a_long_value_is_cut() -> None:
    with pytest.raises(BadInput) as caught:
        to_literal("y" * 10_000_000, INT, "--n")
    assert str(caught.value) == f'--n: expected int, got "{"y" * 58}…'


def test_deep_json_is_an_error_and_no_crash() -> None:
    with pytest.raises(BadInput, match="nested too deeply"):
        to_literal("[" * 100_000, list_of(INT), "--xs")
