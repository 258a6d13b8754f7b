"""Dynamic tasks: every form of outputs, none, deep recursion, conditions and launch plans in a plan."""

import functools
from dataclasses import dataclass
from typing import NamedTuple

from flytekit import LaunchPlan, conditional, dynamic, map_task, task, workflow


class Ends(NamedTuple):
    low: int
    high: int


@dataclass
class Part:
    start: int
    count: int


@task
def inc(n: int) -> int:
    return n + 1


@task
def add(a: int, b: int) -> int:
    return a + b


@task
def total(ns: list[int]) -> int:
    return sum(ns)


@task
def ends(ns: list[int]) -> Ends:
    return Ends(min(ns), max(ns))


@task
def part_of(start: int, count: int) -> Part:
    return Part(start, count)


@task
def numbers(part: Part) -> list[int]:
    return list(range(part.start, part.start + part.count))


@task
def quiet(n: int) -> None:
    print(n)


@dynamic
def loop(n: int) -> int:
    reached = 0
    for k in range(n):
        reached = add(a=reached, b=k)
    return reached


@dynamic
def collected(n: int) -> list[int]:
    return [inc(n=k) for k in range(n)]


@dynamic
def by_name(n: int) -> dict[str, int]:
    return {f"k{k}": inc(n=k) for k in range(n)}


@dynamic
def several(n: int) -> tuple[int, str, list[int]]:
    return inc(n=n), f"literal {n}", [inc(n=n), 5]


@dynamic
def named(ns: list[int]) -> Ends:
    low, high = ends(ns=ns)
    return Ends(low=inc(n=low), high=inc(n=high))


@dynamic
def no_nodes(n: int) -> int:
    return n * 7


@dynamic
def no_outputs(n: int) -> None:
    for k in range(n):
        quiet(n=k)


@dynamic
def nothing_at_all() -> None:
    """No nodes and no outputs."""


@dynamic
def countdown(n: int) -> int:
    return inc(n=countdown(n=n - 1)) if n else inc(n=0)


@dynamic
def maps(ns: list[int]) -> tuple[list[int], int]:
    once = map_task(inc)(n=ns)
    again = map_task(functools.partial(add, b=100))(a=once)
    return again, total(ns=again)


@workflow
def sub(n: int) -> int:
    return inc(n=inc(n=n))


plan = LaunchPlan.get_or_create(sub, name="dynamic_forms-plan", default_inputs={"n": 40})
fixed_plan = LaunchPlan.get_or_create(sub, name="dynamic_forms-fixed-plan", fixed_inputs={"n": 7})


@dynamic
def subs(n: int) -> int:
    return total(ns=[sub(n=k) for k in range(n)])


@dynamic
def plans(n: int) -> tuple[int, int, int]:
    return plan(n=n), plan(), fixed_plan()


@dynamic
def branches(n: int) -> list[int]:
    """What it is given are values, so only promises can be compared."""
    made = []
    for k in range(n):
        counted = inc(n=k)
        made.append(conditional(f"at-{k}").if_(counted > 2).then(add(a=counted, b=100)).else_().then(inc(n=counted)))
    return made


@dynamic
def in_order(path: str) -> str:
    last = append(path=path, text="c")
    first = append(path=path, text="a")
    second = append(path=path, text="b")
    first >> second
    second >> last
    said = read(path=path)
    last >> said
    return said


@task
def append(path: str, text: str) -> None:
    with open(path, "a") as file:
        file.write(text)


@task
def read(path: str) -> str:
    with open(path) as file:
        return file.read()


@dynamic
def inner_dynamic(n: int) -> int:
    return inc(n=loop(n=n))


@dynamic
def outer_dynamic(n: int) -> int:
    return total(ns=[inner_dynamic(n=k) for k in range(n)])


@dynamic
def of_fields(part: Part) -> list[int]:
    made = part_of(start=part.start, count=part.count)
    return numbers(part=part_of(start=inc(n=made.start), count=made.count))


@dynamic
def wide(n: int) -> int:
    return total(ns=[inc(n=k) for k in range(n)])


@workflow
def wf_loop(n: int) -> int:
    return inc(n=loop(n=inc(n=n)))


@workflow
def wf_collected(n: int) -> tuple[list[int], dict[str, int], int]:
    made = collected(n=n)
    return made, by_name(n=n), total(ns=made)


@workflow
def wf_several(n: int) -> tuple[int, str, list[int], int]:
    a, text, ns = several(n=n)
    return a, text, ns, total(ns=ns)


@workflow
def wf_named(ns: list[int]) -> tuple[int, int]:
    found = named(ns=ns)
    return inc(n=found.low), found.high


@workflow
def wf_no_nodes(n: int) -> int:
    return inc(n=no_nodes(n=n))


@workflow
def wf_no_outputs(n: int) -> int:
    done = no_outputs(n=n)
    empty = nothing_at_all()
    after = inc(n=n)
    done >> after
    empty >> after
    return after


@workflow
def wf_recursion(n: int) -> int:
    return countdown(n=n)


@workflow
def wf_maps(ns: list[int]) -> tuple[list[int], int]:
    return maps(ns=ns)


@workflow
def wf_subs(n: int) -> int:
    return subs(n=n)


@workflow
def wf_plans(n: int) -> tuple[int, int, int]:
    return plans(n=n)


@workflow
def wf_branches(n: int) -> list[int]:
    return branches(n=n)


@workflow
def wf_in_order(path: str) -> str:
    return in_order(path=path)


@workflow
def wf_dynamics_in_dynamics(n: int) -> int:
    return outer_dynamic(n=n)


@workflow
def wf_of_fields(start: int) -> list[int]:
    return of_fields(part=part_of(start=start, count=3))


@workflow
def wf_wide(n: int) -> int:
    return wide(n=n)


@workflow
def wf_in_a_branch(n: int) -> int:
    return conditional("planned").if_(n > 2).then(loop(n=n)).else_().then(no_nodes(n=n))


@workflow
def wf_twice(n: int) -> int:
    return add(a=loop(n=n), b=loop(n=loop(n=3)))
