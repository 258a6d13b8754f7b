"""One node of each kind: sub-workflow, conditional, @dynamic task, map, a task that is tried again."""

import os

from flytekit import conditional, dynamic, map_task, task, workflow
from flytekit.exceptions.user import FlyteRecoverableException


@task
def half(n: int) -> int:
    return n // 2


@task(retries=2)
def flaky(n: int, folder: str) -> int:
    mark = f"{folder}/flaky{n}"
    if not os.path.exists(mark):
        open(mark, "w").close()
        raise FlyteRecoverableException("again")
    return n + 1


@workflow
def inner(n: int, folder: str) -> int:
    return flaky(n=half(n=n), folder=folder)


@dynamic
def many(n: int, folder: str) -> list[int]:
    return [flaky(n=k + 100, folder=folder) for k in range(n)]


@workflow
def wf(n: int, folder: str) -> tuple[int, list[int], list[int]]:
    small = inner(n=n, folder=folder)
    chosen = conditional("size").if_(small > 3).then(half(n=small)).else_().then(flaky(n=small, folder=folder))
    return chosen, many(n=3, folder=folder), map_task(half)(n=[4, 6, 8])
