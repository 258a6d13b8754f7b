"""Dataclasses with rare fields, and unions and defaults of every type."""

import datetime as dt
import enum
import math
import typing as t
from dataclasses import dataclass, field

from flytekit import map_task, task, workflow
from flytekit.types.directory import FlyteDirectory
from flytekit.types.file import FlyteFile


class Whole(enum.Enum):
    A = "a"
    B = "b with spaces ✓"


@dataclass
class Inner:
    files: list[FlyteFile] = field(default_factory=list)
    whole: Whole = Whole.A
    none: t.Optional[int] = None
    deep: dict[str, list[dict[str, int]]] = field(default_factory=dict)


@dataclass
class Outer:
    inner: Inner
    many: dict[str, Inner] = field(default_factory=dict)
    folder: t.Optional[FlyteDirectory] = None
    at: dt.datetime = dt.datetime(2024, 2, 29, tzinfo=dt.timezone.utc)
    number: float = 0.0
    text: str = ""


@task
def outer(text: str) -> Outer:
    with open("in-record.txt", "w") as file:
        file.write(text)
    inner = Inner([FlyteFile("in-record.txt")], Whole.B, None, {"x": [{"y": 1}, {}]})
    return Outer(inner, {"é": inner, "": Inner()}, None, number=math.inf, text=text)


@task
def shown_outer(value: Outer) -> str:
    with open(value.many["é"].files[0]) as file:
        said = file.read()
    return f"{said} {value.inner.whole} {value.inner.deep} {value.many[''].files} {value.at} {value.number}"


@task
def of_parts(file: FlyteFile, whole: Whole, n: int, none: t.Optional[int]) -> str:
    with open(file) as handle:
        return f"{handle.read()} {whole} {n} {none}"


@task
def matched(value: t.Union[int, float, str, bool, None, list[int], Inner]) -> str:
    return f"{type(value).__name__} {value!r}"


@task
def optional_lists(
    a: t.Optional[list[t.Optional[str]]], b: list[t.Optional[list[int]]], c: t.Optional[dict[str, t.Optional[Inner]]]
) -> str:
    return f"{a} {b} {sorted((c or {}).items())}"


@task
def shown_defaults(n: int, f: float, none: t.Optional[str], day: dt.date, either: t.Union[int, str]) -> str:
    return f"{n} {f} {none} {day} {either!r}"


@workflow
def wf_outer(text: str) -> tuple[str, str]:
    made = outer(text=text)
    inner = made.many["é"]
    return shown_outer(value=made), of_parts(
        file=inner.files[0], whole=inner.whole, n=inner.deep["x"][0]["y"], none=inner.none
    )


@workflow
def wf_matched() -> list[str]:
    return [matched(value=value) for value in (3, 2.5, "3", True, None, [1], Inner(none=4))]


@workflow
def wf_optional_lists(
    a: t.Optional[list[t.Optional[str]]] = None, c: t.Optional[dict[str, t.Optional[Inner]]] = None
) -> tuple[str, str]:
    return (
        optional_lists(a=a, b=[None, [1], []], c=c),
        optional_lists(a=["x", None], b=[], c={"k": None, "l": Inner()}),
    )


@workflow
def wf_mapped_unions() -> list[str]:
    return map_task(matched)(value=[1, "a", None, [2], Inner()])


@workflow
def with_defaults(
    n: int = -5,
    f: float = math.inf,
    text: str = "ünï\n",
    none: t.Optional[str] = None,
    ns: list[int] = [],
    table: dict[str, list[float]] = {"a": [1.5]},
    at: dt.datetime = dt.datetime(2024, 1, 2, 3, 4, 5, 6, tzinfo=dt.timezone.utc),
    lasts: dt.timedelta = dt.timedelta(milliseconds=1500),
    day: dt.date = dt.date(2024, 2, 29),
    whole: Whole = Whole.B,
    inner: Inner = Inner(none=7),
    either: t.Union[int, str] = "x",
    flag: bool = False,
) -> tuple[str, str, list[int], dict[str, list[float]], dt.datetime, dt.timedelta, Whole, Inner, bool]:
    return (
        shown_defaults(n=n, f=f, none=none, day=day, either=either),
        text,
        ns,
        table,
        at,
        lasts,
        whole,
        inner,
        flag,
    )
