"""Maps over launch plans of every kind that an author can write."""

from dataclasses import dataclass
from typing import Optional

from flytekit import LaunchPlan, conditional, map_task, task, workflow
from flytekit.core.array_node import array_node


@dataclass
class Point:
    x: int
    name: str = "p"


@task
def sq(a: int) -> int:
    return a * a


@task
def total(xs: list[int]) -> int:
    return sum(xs)


@task
def positive(n: int) -> int:
    if n < 0:
        raise ValueError(f"{n} is negative")
    return n


@task
def numbers(n: int) -> list[int]:
    return list(range(n))


@task
def marked(text: str, n: int) -> str:
    return f"{text}{n}"


@task
def put(n: int) -> None:
    print(n)


@task
def moved(point: Point) -> Point:
    return Point(point.x + 1, point.name + "'")


@workflow
def square(n: int) -> int:
    return sq(a=n)


@workflow
def labelled(n: int, text: str = "no.") -> str:
    return marked(text=text, n=n)


@workflow
def row(ns: list[int]) -> list[int]:
    return map_task(sq)(a=ns)


@workflow
def checked(n: int) -> int:
    return positive(n=n)


@workflow
def writes(n: int) -> None:
    put(n=n)


@workflow
def moves(point: Point) -> Point:
    return moved(point=moved(point=point))


@workflow
def judged(n: int) -> int:
    return conditional("judged").if_(n > 1).then(sq(a=n)).else_().then(square(n=n))


moves_plan = LaunchPlan.get_or_create(moves)
judged_plan = LaunchPlan.get_or_create(judged)
square_plan = LaunchPlan.get_or_create(square)
fixed_plan = LaunchPlan.get_or_create(labelled, name="mapped_plans.fixed", fixed_inputs={"text": "#"})
labelled_plan = LaunchPlan.get_or_create(labelled)
row_plan = LaunchPlan.get_or_create(row)
checked_plan = LaunchPlan.get_or_create(checked)
writes_plan = LaunchPlan.get_or_create(writes)


@workflow
def rows(table: list[list[int]]) -> list[list[int]]:
    """A map of maps."""
    return map_task(row_plan)(ns=table)


rows_plan = LaunchPlan.get_or_create(rows)


@workflow
def literal() -> list[int]:
    return map_task(square_plan)(n=[1, 2, 3])


@workflow
def of_inputs(ns: list[int]) -> int:
    return total(xs=map_task(square_plan)(n=ns))


@workflow
def of_outputs(n: int) -> list[int]:
    return map_task(square_plan)(n=numbers(n=n))


@workflow
def two_lists() -> list[str]:
    return map_task(labelled_plan)(n=[1, 2], text=["a", "é"])


@workflow
def with_fixed() -> list[str]:
    return map_task(fixed_plan)(n=[7, 8])


@workflow
def three_deep(cube: list[list[list[int]]]) -> list[list[list[int]]]:
    return map_task(rows_plan)(table=cube)


@workflow
def half(ns: list[int]) -> list[Optional[int]]:
    return array_node(checked_plan, min_success_ratio=0.5)(n=ns)


@workflow
def two_of_them(ns: list[int]) -> list[int]:
    return array_node(checked_plan, min_successes=2)(n=ns)


@workflow
def one_by_one() -> list[int]:
    return array_node(square_plan, concurrency=1)(n=[1, 2, 3])


@workflow
def all_of_them(ns: list[int]) -> list[int]:
    return array_node(checked_plan, run_all_sub_nodes=True)(n=ns)


@workflow
def no_outputs(ns: list[int]) -> None:
    map_task(writes_plan)(n=ns)


@workflow
def dataclasses() -> list[Point]:
    return map_task(moves_plan)(point=[Point(1), Point(5, "q")])


@workflow
def between_maps(ns: list[int]) -> list[int]:
    return map_task(sq)(a=map_task(square_plan)(n=map_task(sq)(a=ns)))


@workflow
def conditions(ns: list[int]) -> list[int]:
    return map_task(judged_plan)(n=ns)
