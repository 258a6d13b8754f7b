"""Launch plans: defaults, fixed inputs, plans of plans, the same plan twice, failing children."""

import datetime as dt
import enum
from dataclasses import dataclass
from typing import NamedTuple, Optional

from flytekit import LaunchPlan, map_task, task, workflow


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


@dataclass
class Point:
    x: int
    name: str = "p"


class Out(NamedTuple):
    text: str
    n: int


@task
def say(a: int, b: int, c: str) -> Out:
    return Out(text=f"{a} {b} {c}", n=a + b)


@task
def inc(x: int) -> int:
    return x + 1


@task
def fails(n: int) -> int:
    if n > 2:
        raise ValueError(f"boom {n}")
    return n


@task
def quiet(n: int) -> None:
    print(n)


@task
def all_of(
    p: Point, at: dt.datetime, colour: Colour, maybe: Optional[int], table: Optional[dict[str, list[int]]]
) -> str:
    return f"{p} {at.isoformat()} {colour.value} {maybe} {table}"


@workflow
def saying(a: int, b: int = 2, c: str = "c") -> Out:
    return say(a=a, b=b, c=c)


usual = LaunchPlan.get_or_create(saying)
eager_plan = LaunchPlan.get_or_create(saying, name="with-defaults", default_inputs={"a": 10, "c": "dé"})
fixed = LaunchPlan.get_or_create(saying, name="with.fixed", default_inputs={"a": 1}, fixed_inputs={"b": 7})
all_fixed = LaunchPlan.get_or_create(saying, name="All_Fixed", fixed_inputs={"a": 1, "b": 2, "c": "3"})


@workflow
def calls(n: int) -> tuple[str, str, str, str, int]:
    one = usual(a=n)
    two = eager_plan()
    three = fixed(a=n, c="x")
    four = all_fixed()
    return one.text, two.text, three.text, four.text, inc(x=three.n)


middle_plan = LaunchPlan.get_or_create(calls, name="middle-plan", default_inputs={"n": 5})


@workflow
def plan_of_plan() -> tuple[str, int]:
    made = middle_plan()
    return made[0], made[4]


@workflow
def twice(n: int) -> tuple[int, int]:
    return usual(a=n).n, usual(a=n).n


@workflow
def failing(n: int) -> int:
    return inc(x=fails(n=n))


failing_plan = LaunchPlan.get_or_create(failing, name="failing-plan")


@workflow
def calls_failing(n: int) -> int:
    return inc(x=failing_plan(n=n))


@workflow
def in_a_sub(n: int) -> int:
    return calls_failing(n=n)


@workflow
def nothing(n: int) -> None:
    quiet(n=n)


nothing_plan = LaunchPlan.get_or_create(nothing, name="nothing-plan")


@workflow
def ordered(n: int) -> int:
    first = nothing_plan(n=n)
    second = inc(x=n)
    first >> second
    return second


@workflow
def passing(ns: list[int], n: int) -> tuple[list[int], int, str]:
    return ns, n, "lit"


passing_plan = LaunchPlan.get_or_create(passing, name="passing-plan")


@workflow
def passes(n: int) -> tuple[list[int], int, str, int]:
    ns, m, text = passing_plan(ns=map_task(inc)(x=[n, 2]), n=n)
    return ns, m, text, inc(x=ns[1])


@workflow
def rich(
    p: Point = Point(1),
    at: dt.datetime = dt.datetime(2024, 1, 2, tzinfo=dt.timezone.utc),
    colour: Colour = Colour.RED,
    maybe: Optional[int] = None,
    table: Optional[dict[str, list[int]]] = None,
) -> str:
    return all_of(p=p, at=at, colour=colour, maybe=maybe, table=table)


rich_plan = LaunchPlan.get_or_create(
    rich, name="rich-plan", default_inputs={"p": Point(4, "d"), "maybe": 3}, fixed_inputs={"colour": Colour.GREEN}
)


@workflow
def calls_rich() -> tuple[str, str]:
    return rich_plan(), rich_plan(p=Point(9), table={"z": []}, maybe=None)
