"""Cached tasks. `path` names a file to which each real run adds a line, so that runs can be counted."""

import functools
from typing import Annotated, Optional

from flytekit import Cache, HashMethod, LaunchPlan, dynamic, map_task, task, workflow


def ran(path: str, text: object) -> None:
    with open(path, "a") as file:
        file.write(f"{text};")


def first_letter(text: str) -> str:
    return text[:1]


Lettered = Annotated[str, HashMethod(first_letter)]


@task(cache=True, cache_version="1")
def square(path: str, n: int) -> int:
    ran(path, n)
    return n * n


@task(cache=Cache(version="1", ignored_inputs=("remark",)))
def remarked(path: str, n: int, remark: str) -> str:
    ran(path, remark)
    return f"{n} {remark}"


@task(cache=True, cache_version="1", cache_serialize=True)
def serialized(path: str, n: int) -> int:
    ran(path, n)
    return n + 1


@task
def lettered(text: str) -> Lettered:
    return text


@task
def all_lettered(texts: list[str]) -> list[Lettered]:
    return texts


@task(cache=True, cache_version="1")
def shout(path: str, text: str) -> str:
    ran(path, text)
    return text.upper()


@task(cache=True, cache_version="1")
def shout_all(path: str, texts: list[str]) -> str:
    ran(path, texts)
    return " ".join(texts).upper()


@task(cache=True, cache_version="1")
def quiet(path: str, n: int) -> None:
    ran(path, n)


@task(cache=True, cache_version="1")
def maybe(path: str, n: Optional[int] = None) -> Optional[int]:
    ran(path, n)
    return n


@task(cache=True, cache_version="1")
def table_of(path: str, table: dict[str, list[int]]) -> dict[str, int]:
    ran(path, sorted(table))
    return {name: sum(ns) for name, ns in table.items()}


@task
def plain(path: str, n: int) -> int:
    ran(path, n)
    return n * n


@task(cache=True, cache_version="1")
def fails(path: str, n: int) -> int:
    ran(path, n)
    raise ValueError("a failure is not kept")
    return n


@task
def total(ns: list[int]) -> int:
    return sum(ns)


@task
def runs(path: str) -> str:
    with open(path) as file:
        return file.read()


@dynamic(cache=True, cache_version="1")
def planned(path: str, n: int) -> int:
    ran(path, f"plan {n}")
    return total(ns=[square(path=path, n=k) for k in range(n)])


@workflow
def twice(path: str, n: int) -> tuple[int, int, str]:
    first, second, found = square(path=path, n=n), square(path=path, n=n), runs(path=path)
    first >> second
    second >> found
    return first, second, found


@workflow
def other_values(path: str, n: int) -> tuple[int, int, str]:
    first = square(path=path, n=n)
    second = square(path=path, n=total(ns=[first, 1]))
    found = runs(path=path)
    second >> found
    return first, second, found


@workflow
def ignoring(path: str) -> tuple[str, str, str]:
    first, second = remarked(path=path, n=1, remark="a"), remarked(path=path, n=1, remark="b")
    found = runs(path=path)
    first >> second
    second >> found
    return first, second, found


@workflow
def at_once(path: str) -> tuple[list[int], str]:
    """Five at once: one runs, four wait for it."""
    done = [serialized(path=path, n=1) for _ in range(5)]
    found = runs(path=path)
    for node in done:
        node >> found
    return done, found


@workflow
def hashed(path: str) -> tuple[str, str, str, str]:
    first = shout(path=path, text=lettered(text="apple"))
    second = shout(path=path, text=lettered(text="avocado"))
    third = shout(path=path, text=lettered(text="banana"))
    found = runs(path=path)
    first >> second
    second >> third
    third >> found
    return first, second, third, found


@workflow
def hashed_items(path: str) -> tuple[str, str, str]:
    first = shout_all(path=path, texts=all_lettered(texts=["apple", "beer"]))
    second = shout_all(path=path, texts=all_lettered(texts=["avocado", "bread"]))
    found = runs(path=path)
    first >> second
    second >> found
    return first, second, found


@workflow
def mapped(path: str) -> tuple[list[int], list[int], str]:
    each = functools.partial(square, path=path)
    first, second = map_task(each, concurrency=1)(n=[1, 2, 3]), map_task(each, concurrency=1)(n=[4, 3, 2])
    found = runs(path=path)
    first >> second
    second >> found
    return first, second, found


@workflow
def without_outputs(path: str) -> str:
    first, second, found = quiet(path=path, n=1), quiet(path=path, n=1), runs(path=path)
    first >> second
    second >> found
    return found


@workflow
def nothings(path: str) -> tuple[Optional[int], Optional[int], Optional[int], str]:
    first, second, third = maybe(path=path), maybe(path=path, n=None), maybe(path=path, n=0)
    found = runs(path=path)
    first >> second
    second >> third
    third >> found
    return first, second, third, found


@workflow
def of_dicts(path: str) -> tuple[dict[str, int], dict[str, int], str]:
    first = table_of(path=path, table={"a": [1], "b": []})
    second = table_of(path=path, table={"b": [], "a": [1]})
    found = runs(path=path)
    first >> second
    second >> found
    return first, second, found


@workflow
def overridden(path: str) -> str:
    """Caching is switched on, off, and given another version, node by node."""
    nodes = [
        plain(path=path, n=1).with_overrides(cache=True, cache_version="1"),
        plain(path=path, n=1).with_overrides(cache=True, cache_version="1"),
        plain(path=path, n=1).with_overrides(cache=True, cache_version="2"),
        plain(path=path, n=1),
        square(path=path, n=2),
        square(path=path, n=2).with_overrides(cache=False),
        square(path=path, n=2),
    ]
    found = runs(path=path)
    for before, after in zip(nodes, [*nodes[1:], found]):
        before >> after
    return found


@workflow
def failing(path: str) -> int:
    return fails(path=path, n=1)


@workflow
def inner(path: str, n: int) -> int:
    return square(path=path, n=n)


inner_plan = LaunchPlan.get_or_create(inner, name="caching-inner-plan")


@workflow
def across(path: str) -> tuple[int, int, int, str]:
    """The same task in a workflow, a sub-workflow and a child execution."""
    first, second, third = square(path=path, n=5), inner(path=path, n=5), inner_plan(path=path, n=5)
    found = runs(path=path)
    first >> second
    second >> third
    third >> found
    return first, second, third, found


@workflow
def dynamically(path: str) -> tuple[int, int, str]:
    first, second = planned(path=path, n=3), planned(path=path, n=3)
    found = runs(path=path)
    first >> second
    second >> found
    return first, second, found
