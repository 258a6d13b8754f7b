"""Every comparison and conjunction of a conditional, on every kind of value: which arm, or which error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from flyteidl.core import condition_pb2, literals_pb2
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from engine.adapters.memory.blobs import MemoryBlobs
from engine.data.conditions import choose
from engine.model.errors import ErrorKind, Failure, Permanent
from engine.model.graph import Arm, BranchSpec
from tests.dataplane import literal, packed, reference, scalar, serialized, serialized_literal, union
from tests.programs import graph

Expression = condition_pb2.BooleanExpression
NAN = float("nan")


def at(seconds: int, nanos: int = 0) -> literals_pb2.Literal:
    primitive = literals_pb2.Primitive(datetime=Timestamp(seconds=seconds, nanos=nanos))
    return literals_pb2.Literal(scalar=literals_pb2.Scalar(primitive=primitive))


def lasting(seconds: int, nanos: int = 0) -> literals_pb2.Literal:
    primitive = literals_pb2.Primitive(duration=Duration(seconds=seconds, nanos=nanos))
    return literals_pb2.Literal(scalar=literals_pb2.Scalar(primitive=primitive))


def compares(sign: str, left: str = "x", right: object = "y") -> Expression:
    """left is a variable; right is one if it is text, else a constant."""
    comparison = condition_pb2.ComparisonExpression(operator=sign)
    comparison.left_value.var = left
    if isinstance(right, str):
        comparison.right_value.var = right
    elif right is None:
        comparison.right_value.scalar.CopyFrom(scalar(None))
    else:
        comparison.right_value.primitive.CopyFrom(literal(right).scalar.primitive)
    return Expression(comparison=comparison)


def both(left: Expression, sign: str, right: Expression) -> Expression:
    return Expression(
        conjunction=condition_pb2.ConjunctionExpression(operator=sign, left_expression=left, right_expression=right)
    )


async def chosen(*conditions: Expression, **inputs: object) -> str:
    return await chosen_by(MemoryBlobs(), conditions, inputs)


async def chosen_by(
    blobs: MemoryBlobs, conditions: Sequence[Expression], inputs: Mapping[str, object], refusal: str = ""
) -> str:
    """Arms a1, a2, ...; then `else`, unless there is a refusal ("-" = neither)."""
    arms = [Arm(f"a{n}", condition.SerializeToString()) for n, condition in enumerate(conditions, 1)]
    arms += [] if refusal else [Arm("else")]
    branch = BranchSpec(tuple(arms), graph("bodies", []), refusal.strip("-"))
    return await choose(blobs, branch, "size", serialized(**inputs))


async def failure(*conditions: Expression, refusal: str = "", **inputs: object) -> Failure:
    with pytest.raises(Permanent) as caught:
        await chosen_by(MemoryBlobs(), conditions, inputs, refusal)
    assert not caught.value.recoverable
    return caught.value.failure


SIGNS = ("EQ", "NEQ", "GT", "GTE", "LT", "LTE")
LESS, SAME, MORE = "NEQ LT LTE", "EQ GTE LTE", "NEQ GT GTE"


@pytest.mark.parametrize(
    ("left", "right", "true"),
    [
        (1, 2, LESS),
        (2, 2, SAME),
        (3, 2, MORE),
        (1.5, 2.5, LESS),
        (2.5, 2.5, SAME),
        (1, 1.5, LESS),
        (2, 2.0, SAME),
        (2.5, 2, MORE),
        # 2**53 + 1 as a float is 2**53: comparing as floats would call these equal.
        (2**53 + 1, float(2**53), MORE),
        (NAN, 1.0, "NEQ"),
        (1, NAN, "NEQ"),
        (NAN, NAN, "NEQ"),
        (float("-inf"), -(2**63), LESS),
        ("a", "b", LESS),
        ("b", "b", SAME),
        ("é", "z", MORE),
        ("", "a", LESS),
        (at(5), at(5, 1), LESS),
        (at(5, 1), at(5, 1), SAME),
        (at(-1, 999_999_999), at(0), LESS),
        (lasting(1, 500_000_000), lasting(1), MORE),
        (lasting(1), lasting(1), SAME),
        (lasting(-1, -1), lasting(-1), LESS),
        (union(3), 3, SAME),
        (union(union(3)), union(2), MORE),
    ],
)
async def test_what_can_be_ordered(left: object, right: object, true: str) -> None:
    found = [sign for sign in SIGNS if await chosen(compares(sign), x=left, y=right) == "a1"]
    assert found == [sign for sign in SIGNS if sign in true.split()]


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (True, True, True),
        (True, False, False),
        (None, None, True),
        (union(None), None, True),
        (3, None, False),
        (None, 3, False),
        ([], None, False),
        ({"a": 1}, None, False),
        (packed({"a": 1}), None, False),
        ([None], None, False),
    ],
)
async def test_what_can_only_be_equal(left: object, right: object, equal: bool) -> None:
    assert await chosen(compares("EQ"), x=left, y=right) == ("a1" if equal else "else")
    assert await chosen(compares("NEQ"), x=left, y=right) == ("else" if equal else "a1")


async def test_is_none_is_a_comparison_with_a_constant() -> None:
    assert await chosen(compares("EQ", "x", None), x=union(None)) == "a1"
    assert await chosen(compares("EQ", "x", None), x=union(0)) == "else"
    assert await chosen(compares("NEQ", "x", None), x=union(0)) == "a1"


async def test_the_first_condition_that_holds_wins() -> None:
    conditions = compares("GT", "x", 10), compares("GT", "x", 5), compares("GT", "x", 0)
    assert [await chosen(*conditions, x=x) for x in (11, 7, 3, 0)] == ["a1", "a2", "a3", "else"]


@pytest.mark.parametrize(("x", "y", "expected"), [(1, 1, "a1"), (1, 0, "else"), (0, 1, "a1"), (0, 0, "else")])
async def test_conjunctions_nest(x: int, y: int, expected: str) -> None:
    """(x == 1 and y == 1) or (x == 0 and (y == 1 or y == 2))."""
    first = both(compares("EQ", "x", 1), "AND", compares("EQ", "y", 1))
    last = both(compares("EQ", "y", 1), "OR", compares("EQ", "y", 2))
    condition = both(first, "OR", both(compares("EQ", "x", 0), "AND", last))
    assert await chosen(condition, x=x, y=y) == expected


@pytest.mark.parametrize(("sign", "x", "expected"), [("OR", 1, "a1"), ("AND", 0, "else")])
async def test_a_side_that_decides_leaves_the_other_alone(sign: str, x: int, expected: str) -> None:
    broken = compares("GT", "gone", 1)
    assert await chosen(both(compares("EQ", "x", 1), sign, broken), x=x) == expected
    assert "uses gone" in (await failure(both(compares("EQ", "x", 1), sign, broken), x=1 - x)).message


async def test_a_later_condition_is_not_looked_at() -> None:
    assert await chosen(compares("EQ", "x", 1), compares("GT", "gone", 1), x=1) == "a1"


async def test_an_operand_that_is_a_reference_is_read() -> None:
    blobs = MemoryBlobs()
    uris = {name: blobs.uri(name) for name in ("text", "maybe")}
    blobs.objects[uris["text"]] = serialized_literal("yes")
    blobs.objects[uris["maybe"]] = serialized_literal(union("yes"))
    inputs = {"x": reference(uris["text"], 9), "y": reference(uris["maybe"], 30)}
    assert await chosen_by(blobs, [compares("EQ")], inputs) == "a1"
    assert await chosen_by(blobs, [compares("NEQ", "x", None)], inputs) == "a1"


async def test_a_large_value_is_known_not_to_be_none_without_reading_it() -> None:
    gone = reference(MemoryBlobs().uri("gone"), 10 * 2**20)
    assert await chosen(compares("EQ", "x", None), x=gone) == "else"


async def test_a_reference_that_leads_nowhere() -> None:
    uri = MemoryBlobs().uri("gone")
    found = await failure(compares("EQ", "x", 1), x=reference(uri, 8))
    assert (found.code, found.kind) == ("RuntimeExecutionError", ErrorKind.SYSTEM)
    assert found.message == f"the offloaded value at {uri} could not be read: no object at {uri}"


@pytest.mark.parametrize(
    ("sign", "left", "right", "told"),
    [
        ("GT", 1, "a", "x = 1 (int) > y = 'a' (str) compares a number with a text"),
        ("EQ", True, 1, "x = True (bool) == y = 1 (int) compares a boolean with a number"),
        ("GT", True, False, "x = True (bool) > y = False (bool) compares booleans, which have no order"),
        ("LT", None, 1, "x = None < y = 1 (int) compares None, which has no order"),
        ("LTE", union(None), union(None), "x = None <= y = None compares None, which has no order"),
        (
            "EQ",
            at(0),
            lasting(90, 1),
            "x = 1970-01-01T00:00:00+00:00 (datetime) == y = 90.000000001 s (timedelta) "
            "compares a datetime with a duration",
        ),
        (
            "EQ",
            [1, 2],
            [1, 2],
            "x = a list of 2 items == y = a list of 2 items compares something else than a number, text, boolean, "
            "point in time, duration or None",
        ),
        (
            "NEQ",
            packed({"a": 1}),
            1,
            "x = binary data, as dataclasses and dicts are != y = 1 (int) compares something else than a number, "
            "text, boolean, point in time, duration or None",
        ),
        ("EQ", "x" * 200, 1, f"x = '{'x' * 100}…' (str) == y = 1 (int) compares a text with a number"),
    ],
)
async def test_what_can_t_be_compared_is_told_by_name_value_and_type(
    sign: str, left: object, right: object, told: str
) -> None:
    expected = f"condition 2 of conditional 'size' can't be evaluated: {told}"
    found = await failure(compares("EQ", "n", 1), compares(sign), n=0, x=left, y=right)
    assert found == Failure("MalformedBranchUserError", ErrorKind.USER, expected)


async def test_a_variable_that_is_not_there() -> None:
    assert (await failure(compares("EQ", "z", 1), x=1, y=2)).message == (
        "condition 1 of conditional 'size' uses z, which is no input of it; there is: x, y"
    )


async def test_nothing_holds() -> None:
    condition = compares("EQ", "x", 1)
    assert await failure(condition, refusal="x must be 1", x=2) == Failure(
        "UserProvidedError", ErrorKind.USER, "x must be 1"
    )
    assert await failure(condition, refusal="-", x=2) == Failure(
        "MalformedBranchUserError", ErrorKind.USER, "no condition of conditional 'size' holds, and it has no else"
    )


async def test_inputs_that_are_broken_are_the_systems_error() -> None:
    branch = BranchSpec((Arm("a1", compares("EQ", "x", 1).SerializeToString()),), graph("bodies", []))
    with pytest.raises(Permanent) as caught:
        await choose(MemoryBlobs(), branch, "size", b"\x0a\x07\x0a\x01x\x12\x02\x0a\x7f")
    assert (caught.value.failure.code, caught.value.failure.kind) == ("RuntimeExecutionError", ErrorKind.SYSTEM)
