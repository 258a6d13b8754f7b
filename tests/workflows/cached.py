"""Cached tasks. Each run of one appends its name to the file STARTS; `slow` then waits until it can read from GATE."""

import os
from typing import Annotated

from flytekit import Cache, HashMethod, map_task, task, workflow


def _started(name: str) -> None:
    with open(os.environ["STARTS"], "a") as starts:
        starts.write(f"{name}\n")


@task(cache=True, cache_version="1")
def double(n: int) -> int:
    _started(f"double {n}")
    return 2 * n


@task(cache=True, cache_version="1", cache_ignore_input_vars=("note",))
def noted(n: int, note: str) -> str:
    _started("noted")
    return f"{note} {n}"


@workflow
def both(n: int, note: str) -> tuple[int, str]:
    return double(n=n), noted(n=n, note=note)


@workflow
def mapped(ns: list[int]) -> list[int]:
    return map_task(double)(n=ns)


@workflow
def mapped_otherwise(ns: list[int]) -> list[int]:
    return map_task(double, concurrency=1)(n=ns)


def by_length(text: str) -> str:
    return str(len(text))


Text = Annotated[str, HashMethod(by_length)]


@task
def texts(words: list[str]) -> list[Text]:
    return words


@task(cache=True, cache_version="1")
def joined(words: list[Text]) -> str:
    _started("joined")
    return " ".join(words)


@workflow
def hashed(words: list[str]) -> str:
    return joined(words=texts(words=words))


@task
def large(size: int) -> str:
    return "x" * size


@task(cache=True, cache_version="1")
def length(text: str) -> int:
    _started("length")
    return len(text)


@workflow
def of_large(size: int) -> int:
    return length(text=large(size=size))


@workflow
def of_text(text: str) -> int:
    return length(text=text)


@task(cache=True, cache_version="1")
def produced(size: int) -> str:
    _started("produced")
    return "x" * size


@task
def measured(text: str) -> int:
    return len(text)


@workflow
def produces(size: int) -> int:
    return measured(text=produced(size=size))


@task
def plain(n: int) -> int:
    _started("plain")
    return n


@workflow
def overridden(n: int) -> tuple[int, int]:
    kept = plain(n=n).with_overrides(cache=Cache(version="node"))
    again = double(n=n).with_overrides(cache=False)
    return kept, again


@task(cache=True, cache_version="1", cache_serialize=True)
def slow(n: int) -> int:
    _started("slow")
    with open(os.environ["GATE"]) as gate:
        gate.read()
    return n


@workflow
def three_slow(n: int) -> tuple[int, int, int]:
    return slow(n=n), slow(n=n), slow(n=n)
