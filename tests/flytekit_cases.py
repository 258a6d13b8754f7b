# ruff: noqa: UP007, UP045
"""Python types as authors use them, with what a person types for one, the Python value, and its natural JSON.

Without `from __future__ import annotations`, as an author's module is: flytekit reads some types only then.
"""

import datetime as dt
import enum
import typing as t
import warnings
from dataclasses import dataclass, field
from typing import NamedTuple

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from flyteidl.core.literals_pb2 import Literal
    from flyteidl.core.types_pb2 import LiteralType
    from flytekit.core.context_manager import FlyteContextManager
    from flytekit.core.type_engine import TypeEngine
    from flytekit.models.literals import Literal as ModelLiteral
    from flytekit.types.directory.types import FlyteDirectory as FlyteDirectory
    from flytekit.types.file.file import FlyteFile as FlyteFile
    from pydantic import BaseModel


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


@dataclass
class Layer:
    width: int
    rate: float = 0.5


@dataclass
class Model:
    name: str
    first: Layer
    rates: list[float]
    table: dict[str, float]
    limit: t.Optional[int] = None
    colour: Colour = Colour.RED
    more: list[Layer] = field(default_factory=list)
    at: dt.datetime = dt.datetime(2024, 1, 1)
    day: dt.date = dt.date(2024, 1, 1)
    lasts: dt.timedelta = dt.timedelta(seconds=90)
    either: t.Union[int, str] = 3
    data: bytes = b"ab"
    by_number: dict[int, float] = field(default_factory=dict)


class Friend(BaseModel):
    weight: float


class Person(BaseModel):
    age: int
    height: float = 1.5
    lasts: dt.timedelta = dt.timedelta(seconds=3)
    at: t.Optional[dt.datetime] = None
    friend: t.Optional[Friend] = None
    colour: Colour = Colour.GREEN


MODEL_TEXT = """{"name": "m", "first": {"width": 2, "rate": 1}, "rates": [1, 2.5], "table": {"k": 1}, "colour": "green",
 "more": [{"width": 3}], "limit": 7, "either": "s", "data": "eHk=", "by_number": {"1": 2}, "lasts": "1m"}"""
MODEL = Model(
    name="m",
    first=Layer(2, 1.0),
    rates=[1.0, 2.5],
    table={"k": 1.0},
    colour=Colour.GREEN,
    more=[Layer(3)],
    limit=7,
    either="s",
    data=b"xy",
    by_number={1: 2.0},
    lasts=dt.timedelta(minutes=1),
)
MODEL_JSON = {
    "name": "m",
    "first": {"width": 2, "rate": 1.0},
    "rates": [1.0, 2.5],
    "table": {"k": 1.0},
    "limit": 7,
    "colour": "green",
    "more": [{"width": 3, "rate": 0.5}],
    "at": "2024-01-01T00:00:00",
    "day": "2024-01-01",
    "lasts": 60.0,
    "either": "s",
    "data": "eHk=",
    "by_number": {"1": 2.0},
}
MOMENT = dt.datetime(2024, 5, 17, 9, 30, 0, 123456, tzinfo=dt.UTC)


class Case(NamedTuple):
    python_type: t.Any
    typed: object
    value: t.Any
    natural: object


CASES = {
    "int": Case(int, "-3", -3, -3),
    "float": Case(float, "3", 3.0, 3.0),
    "infinity": Case(float, "inf", float("inf"), "Infinity"),
    "bool": Case(bool, "no", False, False),
    "str": Case(str, "3", "3", "3"),
    "datetime": Case(dt.datetime, "2024-05-17T11:30:00.123456+02:00", MOMENT, "2024-05-17T09:30:00.123456Z"),
    "date": Case(dt.date, "2024-05-17", dt.date(2024, 5, 17), "2024-05-17T00:00:00Z"),
    "timedelta": Case(dt.timedelta, "-1h30m", -dt.timedelta(hours=1, minutes=30), -5400),
    "short timedelta": Case(dt.timedelta, "0.000001", dt.timedelta(microseconds=1), 0.000001),
    "enum": Case(Colour, "green", Colour.GREEN, "green"),
    "list of ints": Case(list[int], "[1, 2]", [1, 2], [1, 2]),
    "empty list": Case(list[int], "[]", [], []),
    "list of enums": Case(list[Colour], '["red", "green"]', [Colour.RED, Colour.GREEN], ["red", "green"]),
    "list of lists": Case(list[list[str]], '[["a"], []]', [["a"], []], [["a"], []]),
    "dict of floats": Case(dict[str, float], '{"a": 1, "b": 2.5}', {"a": 1.0, "b": 2.5}, {"a": 1.0, "b": 2.5}),
    "any dict": Case(dict, '{"a": [1, 2.5, null, {"b": true}]}', *[{"a": [1, 2.5, None, {"b": True}]}] * 2),
    "dict of int keys": Case(dict[int, str], '{"1": "a"}', {1: "a"}, {"1": "a"}),
    "nothing": Case(t.Optional[int], "null", None, None),
    "optional int": Case(t.Optional[int], "3", 3, 3),
    "union": Case(t.Union[int, str], "x3", "x3", "x3"),
    "optional list": Case(t.Optional[list[int]], "[1]", [1], [1]),
    "list of optional": Case(list[t.Optional[float]], "[1, null]", [1.0, None], [1.0, None]),
    "union of dataclass and enum": Case(t.Union[Layer, Colour], '{"width": 1}', Layer(1), {"width": 1, "rate": 0.5}),
    "dataclass": Case(Layer, '{"width": 1}', Layer(1), {"width": 1, "rate": 0.5}),
    "nested dataclass": Case(Model, MODEL_TEXT, MODEL, MODEL_JSON),
    "dict of dataclasses": Case(
        dict[str, Layer], '{"a": {"width": 1}}', {"a": Layer(1)}, {"a": {"width": 1, "rate": 0.5}}
    ),
    "pydantic model": Case(
        Person,
        '{"age": 3, "friend": {"weight": 1}, "lasts": "59s", "at": "2024-05-17T09:30:00"}',
        Person(age=3, friend=Friend(weight=1.0), lasts=dt.timedelta(seconds=59), at=dt.datetime(2024, 5, 17, 9, 30)),
        {
            "age": 3,
            "height": 1.5,
            "lasts": "PT59S",
            "at": "2024-05-17T09:30:00",
            "friend": {"weight": 1.0},
            "colour": "green",
        },
    ),
}


def type_of(python_type: t.Any) -> LiteralType:
    """The flyteidl type that flytekit declares."""
    declared: LiteralType = TypeEngine.to_literal_type(python_type).to_flyte_idl()
    return declared


def written(value: t.Any, python_type: t.Any) -> Literal:
    """The literal that flytekit writes."""
    context, declared = FlyteContextManager.current_context(), TypeEngine.to_literal_type(python_type)
    literal: Literal = TypeEngine.to_literal(context, value, python_type, declared).to_flyte_idl()
    return literal


def read(literal: Literal, python_type: t.Any) -> t.Any:
    """The Python value that flytekit reads."""
    context = FlyteContextManager.current_context()
    return TypeEngine.to_python_value(context, ModelLiteral.from_flyte_idl(literal), python_type)
