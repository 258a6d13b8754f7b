"""Gates of every type, in every place, with every kind of name."""

import datetime as dt
import enum
from dataclasses import dataclass
from typing import Optional, Union

from flytekit import LaunchPlan, approve, conditional, dynamic, map_task, sleep, task, wait_for_input, workflow

HOUR = dt.timedelta(hours=1)


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


@dataclass
class Knob:
    n: int
    name: str = "k"


@task
def inc(n: int) -> int:
    return n + 1


@task
def numbers(n: int) -> list[int]:
    return list(range(n))


@task
def knob(n: int) -> Knob:
    return Knob(n)


@task
def shown(
    a: int,
    b: float,
    c: str,
    d: bool,
    e: dt.datetime,
    f: dt.timedelta,
    g: list[int],
    h: dict[str, float],
    i: Colour,
    j: Knob,
    k: Optional[int],
    m: Union[int, str],
) -> str:
    return f"{a} {b} {c} {d} {e} {f} {g} {h} {i} {j} {k} {m!r}"


@task
def note(path: str, text: str) -> None:
    with open(path, "a") as file:
        file.write(text)


@task
def read(path: str) -> str:
    with open(path) as file:
        return file.read()


@workflow
def every_type() -> str:
    return shown(
        a=wait_for_input("a", timeout=HOUR, expected_type=int),
        b=wait_for_input("b", timeout=HOUR, expected_type=float),
        c=wait_for_input("c", timeout=HOUR, expected_type=str),
        d=wait_for_input("d", timeout=HOUR, expected_type=bool),
        e=wait_for_input("e", timeout=HOUR, expected_type=dt.datetime),
        f=wait_for_input("f", timeout=HOUR, expected_type=dt.timedelta),
        g=wait_for_input("g", timeout=HOUR, expected_type=list[int]),
        h=wait_for_input("h", timeout=HOUR, expected_type=dict[str, float]),
        i=wait_for_input("i", timeout=HOUR, expected_type=Colour),
        j=wait_for_input("j", timeout=HOUR, expected_type=Knob),
        k=wait_for_input("k", timeout=HOUR, expected_type=Optional[int]),
        m=wait_for_input("m", timeout=HOUR, expected_type=Union[int, str]),
    )


@workflow
def approved(n: int) -> tuple[int, list[int], int]:
    """Of a list that is mapped over then, and of a field."""
    made = approve(numbers(n=n), "the list", timeout=HOUR)
    field = approve(knob(n=n).n, "the field", timeout=HOUR)
    return inc(n=made[1]), map_task(inc)(n=made), inc(n=field)


@workflow
def same_id_twice(n: int) -> tuple[int, int, int]:
    first = wait_for_input("shared", timeout=HOUR, expected_type=int)
    second = wait_for_input("shared", timeout=HOUR, expected_type=int)
    return inc(n=first), inc(n=second), n


@workflow
def oddly_named() -> tuple[int, int]:
    return (
        inc(n=wait_for_input("Größe? (50%/../x) ✓", timeout=HOUR, expected_type=int)),
        inc(n=wait_for_input("a" * 200, timeout=HOUR, expected_type=int)),
    )


@workflow
def in_order(path: str) -> str:
    """Sleeps and approvals hold up what comes after them, and nothing else."""
    first = note(path=path, text="a")
    slept = sleep(dt.timedelta(milliseconds=300))
    second = note(path=path, text="b")
    again = sleep(dt.timedelta(seconds=0.1))
    third = note(path=path, text="c")
    said = read(path=path)
    first >> slept
    slept >> second
    second >> again
    again >> third
    third >> said
    return said


@workflow
def sub(n: int) -> int:
    return inc(n=approve(inc(n=n), "inside", timeout=HOUR))


@workflow
def in_a_sub(n: int) -> int:
    return sub(n=sub(n=n))


@workflow
def in_an_arm(n: int) -> int:
    return conditional("asked").if_(n > 3).then(sub(n=n)).else_().then(inc(n=n))


@workflow
def compared() -> int:
    said = wait_for_input("which", timeout=HOUR, expected_type=int)
    return conditional("said").if_(said > 3).then(inc(n=said)).else_().then(inc(n=0))


@workflow
def passed_on() -> tuple[int, Optional[int]]:
    return (
        wait_for_input("to outputs", timeout=HOUR, expected_type=int),
        wait_for_input("maybe", timeout=HOUR, expected_type=Optional[int]),
    )


@dynamic
def planned(n: int) -> int:
    slept = sleep(dt.timedelta(milliseconds=100))
    made = inc(n=n)
    slept >> made
    return approve(made, "in a plan", timeout=HOUR)


@workflow
def in_a_dynamic(n: int) -> int:
    return inc(n=planned(n=n))


@workflow
def impatient(n: int) -> int:
    return inc(n=approve(inc(n=n), "never", timeout=dt.timedelta(milliseconds=200)))


@workflow
def sleeper(n: int) -> int:
    slept = sleep(dt.timedelta(milliseconds=50))
    made = inc(n=n)
    slept >> made
    return made


sleeper_plan = LaunchPlan.get_or_create(sleeper)


@workflow
def sleeping_children() -> list[int]:
    return map_task(sleeper_plan)(n=[1, 2, 3])
