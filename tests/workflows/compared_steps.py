"""Conditionals that compare steps into a promise: fields, items, keys."""

from dataclasses import dataclass

from flytekit import conditional, map_task, task, workflow


@dataclass
class Knob:
    n: int
    name: str = "k"


@task
def inc(n: int) -> int:
    return n + 1


@task
def double(n: int) -> int:
    return n * 2


@task
def say(text: str) -> str:
    return f"said {text}"


@task
def table_of(n: int) -> dict[str, int]:
    return {"é": n, "b": -n}


@task
def knob(n: int) -> Knob:
    return Knob(n)


@workflow
def of_fields(n: int) -> str:
    made = knob(n=n)
    return conditional("knob").if_(made.n > 3).then(say(text=made.name)).else_().then(say(text="low"))


@workflow
def of_input_fields(made: Knob, ns: list[int]) -> tuple[str, str]:
    return (
        conditional("named").if_(made.name == "k").then(say(text="k")).else_().then(say(text="other")),
        conditional("third").if_(ns[2] > made.n).then(say(text="more")).else_().then(say(text="less")),
    )


@workflow
def over_a_map(ns: list[int]) -> int:
    counted = map_task(inc)(n=ns)
    return conditional("first of map").if_(counted[0] > 3).then(inc(n=counted[1])).else_().then(double(n=counted[-1]))


@workflow
def of_keys(n: int) -> str:
    made = table_of(n=n)
    return conditional("key").if_(made["é"] == 3).then(say(text="three")).else_().then(say(text="other"))
