"""Map tasks of every kind that an author can write."""

import functools
import os
from typing import Optional

from flytekit import LaunchPlan, map_task, task, workflow
from flytekit.core.legacy_map_task import map_task as legacy_map_task
from flytekit.exceptions.user import FlyteRecoverableException


@task
def sq(a: int) -> int:
    return a * a


@task
def inc(x: int) -> int:
    return x + 1


@task
def total(xs: list[int]) -> int:
    return sum(xs)


@task
def some(xs: list[Optional[int]]) -> list[int]:
    return [x for x in xs if x is not None]


@task
def numbers(n: int) -> list[int]:
    return list(range(n))


@task
def pair(a: int, b: str) -> str:
    return f"{a}{b}"


@task
def three(a: int, b: list[int], c: str) -> str:
    return f"{a} {b} {c}"


@task
def t1(x: list[float], y: float) -> list[float]:
    return [*x, y]


@task
def get_x() -> list[float]:
    return [1.0, 2.4, 3.9]


@task
def get_c() -> str:
    return "see"


@task
def fails_for(a: int, bad: list[int]) -> int:
    if a in bad:
        raise ValueError(f"boom {a}")
    return a * a


@task
def quiet(a: int) -> None:
    print(a)


@task(retries=2)
def flaky(a: int, folder: str, times: int) -> int:
    """Element 2 fails `times` times before it succeeds."""
    with open(f"{folder}/{a}", "a") as file:
        file.write("x")
    if a == 2 and os.path.getsize(f"{folder}/{a}") <= times:
        raise FlyteRecoverableException(f"not yet {a}")
    return a * 10


@task
def kept(a: int, folder: str) -> int:
    """Counts how many run at once: the folder holds one file for each that runs."""
    path = f"{folder}/{a}"
    open(path, "w").close()
    seen = len(os.listdir(folder))
    os.remove(path)
    return seen


@task
def lists(n: int) -> list[int]:
    return list(range(n))


@task
def nested_total(rows: list[list[int]]) -> list[int]:
    return [sum(row) for row in rows]


@task
def maybe(a: int) -> Optional[int]:
    return None if a % 2 else a


@workflow
def plain(ns: list[int]) -> list[int]:
    return map_task(sq)(a=ns)


@workflow
def chained(ns: list[int]) -> tuple[list[int], list[int], int]:
    m = map_task(sq)(a=ns)
    i = map_task(inc)(x=m)
    return m, i, total(xs=i)


@workflow
def literal() -> list[int]:
    return map_task(sq)(a=[1, 2, 3])


@workflow
def of_promises(n: int) -> list[int]:
    return map_task(sq)(a=[inc(x=n), n, 5])


@workflow
def two_lists(ns: list[int], texts: list[str]) -> list[str]:
    return map_task(pair)(a=ns, b=texts)


@workflow
def partials(ns: list[int], b: list[int]) -> tuple[list[str], list[str], list[str]]:
    return (
        map_task(functools.partial(three, b=[7, 8, 9], c="see"))(a=ns),
        map_task(functools.partial(three, b=b, c=get_c()))(a=ns),
        map_task(functools.partial(pair, b="fixed"))(a=ns),
    )


@workflow
def bound_list() -> list[list[float]]:
    return map_task(functools.partial(t1, x=get_x()))(y=[0.1, 0.3, 0.5, 0.7, 0.9])


@workflow
def half(ns: list[int], bad: list[int]) -> tuple[list[Optional[int]], list[int]]:
    m = map_task(functools.partial(fails_for, bad=bad), min_success_ratio=0.5)(a=ns)
    return m, some(xs=m)


@workflow
def six_tenths(ns: list[int], bad: list[int]) -> list[Optional[int]]:
    return map_task(functools.partial(fails_for, bad=bad), min_success_ratio=0.6)(a=ns)


@workflow
def eight_tenths(ns: list[int], bad: list[int]) -> list[Optional[int]]:
    return map_task(functools.partial(fails_for, bad=bad), min_success_ratio=0.8)(a=ns)


@workflow
def at_least_three(ns: list[int], bad: list[int]) -> list[Optional[int]]:
    return map_task(functools.partial(fails_for, bad=bad), min_successes=3, min_success_ratio=None)(a=ns)


@workflow
def strict(ns: list[int], bad: list[int]) -> list[int]:
    return map_task(functools.partial(fails_for, bad=bad))(a=ns)


@task
def starts(folder: str) -> dict[str, int]:
    return {name: os.path.getsize(f"{folder}/{name}") for name in os.listdir(folder)}


@workflow
def retried(folder: str, times: int) -> tuple[list[int], dict[str, int]]:
    done = map_task(functools.partial(flaky, folder=folder, times=times))(a=[0, 1, 2, 3, 4])
    counted = starts(folder=folder)
    done >> counted
    return done, counted


@workflow
def one_at_a_time(ns: list[int], folder: str) -> list[int]:
    return map_task(functools.partial(kept, folder=folder), concurrency=1)(a=ns)


@workflow
def no_outputs(ns: list[int]) -> int:
    done = map_task(quiet)(a=ns)
    counted = total(xs=ns)
    done >> counted
    return counted


@workflow
def of_lists(ns: list[int]) -> tuple[list[list[int]], list[int]]:
    rows = map_task(lists)(n=ns)
    return rows, nested_total(rows=rows)


@workflow
def optional_items(ns: list[int]) -> tuple[list[Optional[int]], list[int]]:
    m = map_task(maybe)(a=ns)
    return m, some(xs=m)


@workflow
def inner3(ns: list[int]) -> tuple[list[int], int]:
    m = map_task(sq)(a=ns)
    return m, total(xs=m)


@workflow
def inner2(ns: list[int]) -> tuple[list[int], int]:
    return inner3(ns=map_task(inc)(x=ns))


@workflow
def inner1(ns: list[int]) -> tuple[list[int], int]:
    return inner2(ns=ns)


@workflow
def depth(ns: list[int]) -> tuple[list[int], int]:
    return inner1(ns=ns)


@workflow
def wide(n: int) -> tuple[list[int], int]:
    m = map_task(inc)(x=numbers(n=n))
    return m, total(xs=m)


plan = LaunchPlan.get_or_create(inner3, name="mapping-plan")


@workflow
def uses(ns: list[int]) -> tuple[int, int, list[int], list[int], int, list[int], list[int]]:
    m = map_task(sq)(a=ns)
    _, by_sub = inner3(ns=m)
    _, by_plan = plan(ns=m)
    return inc(x=m[2]), inc(x=m[-1]), map_task(inc)(x=m), some(xs=m), add_up(by_sub, by_plan), m, [m[0], m[1]]


def add_up(a, b):
    return total(xs=[a, b])


@workflow
def too_far(ns: list[int]) -> int:
    return inc(x=map_task(sq)(a=ns)[7])


@workflow
def renamed(ns: list[int]) -> list[int]:
    return map_task(sq)(a=ns).with_overrides(node_name="my-map", retries=1)


@workflow
def same_map_twice(ns: list[int]) -> list[int]:
    again = map_task(sq)
    return again(a=again(a=ns))


@workflow
def the_old_way(ns: list[int]) -> tuple[list[int], list[str]]:
    bound = functools.partial(three, b=ns, c=get_c())
    return legacy_map_task(sq)(a=ns), legacy_map_task(bound, concurrency=1)(a=ns)


@task(environment={"_F_L_MIN_SIZE_MB": "1", "_F_L_MAX_SIZE_MB": "100"})
def large(n: int) -> str:
    """flytekit itself puts it into a file of its own."""
    return str(n) * 1_200_000


@task
def length(text: str) -> str:
    return f"{text[:1]} {len(text)}"


@task
def lengths(texts: list[str]) -> list[str]:
    return [f"{text[:1]} {len(text)}" for text in texts]


@workflow
def elements_by_reference(ns: list[int]) -> tuple[list[str], list[str], str]:
    """Each element's output is a reference already: to be mapped, passed on whole, and reached into."""
    texts = map_task(large)(n=ns)
    return map_task(length)(text=texts), lengths(texts=texts), length(text=texts[1])
