"""Conditions of conditionals: which arm the values of a branch node's inputs lead to.

Conjunctions stop as soon as they are decided. Numbers compare exactly, an int with a float too; points in time and
durations to the nanosecond; None equals only None. What can't be compared is the author's error, told with the name,
the value and the type of both sides.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from flyteidl.core.condition_pb2 import BooleanExpression, ComparisonExpression, ConjunctionExpression, Operand
from flyteidl.core.literals_pb2 import Primitive, Scalar
from google.protobuf.message import DecodeError
from msgspec import Struct

from engine.data.framing import CorruptMessage, Data, fields
from engine.data.literals import Kind, entries, items, shape, unwrapped
from engine.data.references import read_reference, readable, reference_of
from engine.model.errors import Defect, ErrorKind, Failure, Permanent
from engine.model.graph import BranchSpec
from engine.ports.blobstore import BlobStore

_NANOSECONDS = 10**9
_LONGEST_SHOWN = 100
_LARGEST_NONE = 64 * 1024
"""Bytes: a larger value is certainly not None, so it need not be read to know."""

Plain = int | float | str | bool | None


class _Value(Struct, frozen=True):
    """One side of a comparison."""

    kind: str
    """What it may be compared with: values of the same kind. Empty: with nothing but None."""
    plain: Plain = None
    """Nanoseconds for points in time and durations."""
    shown: str = ""
    """The value and its type, for people."""
    name: str = ""

    def __str__(self) -> str:
        return f"{self.name} = {self.shown}" if self.name else self.shown


_NONE = _Value("none", shown="None")
_COMPARATORS: dict[int, tuple[str, Callable[[Any, Any], bool]]] = {
    ComparisonExpression.EQ: ("==", operator.eq),
    ComparisonExpression.NEQ: ("!=", operator.ne),
    ComparisonExpression.GT: (">", operator.gt),
    ComparisonExpression.GTE: (">=", operator.ge),
    ComparisonExpression.LT: ("<", operator.lt),
    ComparisonExpression.LTE: ("<=", operator.le),
}
_EQUALITY = (ComparisonExpression.EQ, ComparisonExpression.NEQ)


async def choose(blobs: BlobStore, branch: BranchSpec, name: str, inputs: bytes) -> str:
    """The id of the arm to take: the first whose condition holds. `inputs` are the branch node's own (a `LiteralMap`).

    Raises Permanent (USER): UserProvidedError with the author's words where no condition holds and he wrote
    `else_().fail(...)`, MalformedBranchUserError for a condition that can't be evaluated; Transient of the store.
    """
    values = _Values(blobs, entries(inputs))
    for number, arm in enumerate(branch.arms, 1):
        try:
            if not arm.condition or await _holds(BooleanExpression.FromString(arm.condition), values):
                return arm.node
        except _Malformed as problem:
            raise _malformed(f"condition {number} of conditional {name!r} {problem}") from problem
        except CorruptMessage as problem:
            message = f"condition {number} of conditional {name!r}: an input of it can't be read: {problem}"
            raise Permanent(Failure("RuntimeExecutionError", ErrorKind.SYSTEM, message)) from problem
        except DecodeError as problem:
            raise Defect(f"condition {number} of conditional {name!r} can't be read: {problem}") from problem
    if branch.refusal:
        raise Permanent(Failure("UserProvidedError", ErrorKind.USER, branch.refusal))
    raise _malformed(f"no condition of conditional {name!r} holds, and it has no else")


class _Malformed(Exception):
    """A condition can't be evaluated: says why."""


def _malformed(message: str) -> Permanent:
    return Permanent(Failure("MalformedBranchUserError", ErrorKind.USER, message))


async def _holds(condition: BooleanExpression, values: _Values) -> bool:
    if condition.WhichOneof("expr") == "comparison":
        return await _compares(condition.comparison, values)
    both = condition.conjunction
    left = await _holds(both.left_expression, values)
    if left is (both.operator == ConjunctionExpression.OR):
        return left
    return await _holds(both.right_expression, values)


async def _compares(comparison: ComparisonExpression, values: _Values) -> bool:
    sign, test = _COMPARATORS[comparison.operator]
    operands = (comparison.left_value, comparison.right_value)
    with_none = any(side.WhichOneof("val") == "scalar" for side in operands)
    left, right = [await values.of(side, with_none) for side in operands]
    equality = comparison.operator in _EQUALITY
    if equality and _NONE.kind in (left.kind, right.kind):
        return (left.kind == right.kind) is (comparison.operator == ComparisonExpression.EQ)
    if left.kind != right.kind or left.kind in ("", _NONE.kind) or (left.kind == "boolean" and not equality):
        raise _Malformed(f"can't be evaluated: {left} {sign} {right} {_reason(left, right)}")
    return test(left.plain, right.plain)


def _reason(left: _Value, right: _Value) -> str:
    if left.kind == right.kind == "boolean":
        return "compares booleans, which have no order"
    if _NONE.kind in (left.kind, right.kind):
        return "compares None, which has no order"
    if not left.kind or not right.kind:
        return "compares something else than a number, text, boolean, point in time, duration or None"
    return f"compares a {left.kind} with a {right.kind}"


class _Values:
    """The branch node's inputs, each read at most once and only when a condition asks for it."""

    def __init__(self, blobs: BlobStore, inputs: Mapping[str, Data]) -> None:
        self._blobs, self._inputs = blobs, inputs
        self._known: dict[str, _Value] = {}

    async def of(self, operand: Operand, with_none: bool) -> _Value:
        """with_none: it is only compared with None."""
        match operand.WhichOneof("val"):
            case "primitive":
                return _primitive(operand.primitive, "")
            case "scalar":
                return _scalar(operand.scalar, "")
            case "var":
                return await self._named(operand.var, with_none)
        return _Value("", shown="nothing")

    async def _named(self, variable: str, with_none: bool) -> _Value:
        if variable not in self._known:
            if variable not in self._inputs:
                there = ", ".join(sorted(self._inputs)) or "none"
                raise _Malformed(f"uses {variable}, which is no input of it; there is: {there}")
            literal = unwrapped(self._inputs[variable])
            reference = reference_of(literal)
            if reference is not None and with_none and reference.size_bytes > _LARGEST_NONE:
                return _Value("", shown=f"a value of {reference.size_bytes} bytes", name=variable)
            if reference is not None:
                literal = unwrapped(await read_reference(self._blobs, reference))
                with readable(reference.uri):
                    self._known[variable] = _value(literal, variable)
            else:
                self._known[variable] = _value(literal, variable)
        return self._known[variable]


_SCALAR_NAMES = {
    2: "a file or folder",
    3: "binary data, as dataclasses and dicts are",
    4: "a schema",
    6: "an error",
    7: "a struct",
    8: "a structured dataset",
}
_PRIMITIVE, _NOTHING = 1, 5
"""Numbers of the fields of a `Scalar` that can be compared."""


def _value(literal: Data, name: str) -> _Value:
    whole = shape(literal)
    match whole.kind:
        case Kind.COLLECTION:
            return _Value("", shown=f"a list of {len(items(whole.payload))} items", name=name)
        case Kind.MAP:
            return _Value("", shown=f"a map of {len(entries(whole.payload))} entries", name=name)
        case Kind.SCALAR:
            numbers = [tag >> 3 for tag, *_ in fields(whole.payload)]
            held = numbers[-1] if numbers else 0
            if held not in (_PRIMITIVE, _NOTHING):
                return _Value("", shown=_SCALAR_NAMES.get(held, "an empty value"), name=name)
            try:
                return _scalar(Scalar.FromString(bytes(whole.payload)), name)
            except DecodeError as problem:
                raise CorruptMessage(f"{name} can't be read: {problem}") from problem
    return _Value("", shown="an empty value", name=name)


def _scalar(scalar: Scalar, name: str) -> _Value:
    match scalar.WhichOneof("value"):
        case "none_type":
            return _Value(_NONE.kind, shown=_NONE.shown, name=name)
        case "primitive":
            return _primitive(scalar.primitive, name)
    return _Value("", shown="something that is no plain value", name=name)


def _primitive(primitive: Primitive, name: str) -> _Value:
    held = primitive.WhichOneof("value")
    match held:
        case "integer" | "float_value":
            number: int | float = getattr(primitive, held)
            return _Value("number", number, f"{number} ({'int' if held == 'integer' else 'float'})", name)
        case "string_value":
            return _Value("text", primitive.string_value, f"{_shortened(primitive.string_value)} (str)", name)
        case "boolean":
            return _Value("boolean", primitive.boolean, f"{primitive.boolean} (bool)", name)
        case "datetime":
            at = primitive.datetime.seconds * _NANOSECONDS + primitive.datetime.nanos
            return _Value("datetime", at, f"{_moment(at)} (datetime)", name)
        case "duration":
            length = primitive.duration.seconds * _NANOSECONDS + primitive.duration.nanos
            return _Value("duration", length, f"{_seconds(length)} s (timedelta)", name)
    return _Value("", shown="an empty value", name=name)


def _shortened(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")


def _moment(nanoseconds: int) -> str:
    try:
        return (datetime.fromtimestamp(0, UTC) + timedelta(microseconds=nanoseconds // 1000)).isoformat()
    except OverflowError:
        return f"{nanoseconds} ns after 1970"


def _seconds(nanoseconds: int) -> str:
    """Every digit, and no more."""
    whole, rest = divmod(abs(nanoseconds), _NANOSECONDS)
    digits = f"{whole}.{rest:09}".rstrip("0").rstrip(".")
    return f"-{digits}" if nanoseconds < 0 else digits
