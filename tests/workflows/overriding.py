"""with_overrides and create_node: what a node sets for itself."""

import os
from datetime import timedelta

from flytekit import LaunchPlan, Resources, dynamic, map_task, task, workflow
from flytekit.core.node_creation import create_node
from flytekit.exceptions.user import FlyteRecoverableException


def tried(path: str) -> int:
    with open(path, "a") as file:
        file.write("x")
    return os.path.getsize(path)


@task
def inc(n: int) -> int:
    return n + 1


@task(retries=1)
def flaky(path: str, times: int) -> int:
    if tried(path) <= times:
        raise FlyteRecoverableException(f"try {os.path.getsize(path)}")
    return os.path.getsize(path)


@task
def flaky_item(n: int, folder: str, times: int) -> int:
    if tried(f"{folder}/{n}") <= times:
        raise FlyteRecoverableException(f"try {n}")
    return os.path.getsize(f"{folder}/{n}")


@task
def two(n: int) -> tuple[int, int]:
    return n, n + 1


@task
def quiet(path: str) -> None:
    tried(path)


@task
def size_of(path: str) -> int:
    return os.path.getsize(path)


@workflow
def more_retries(path: str, times: int) -> int:
    return flaky(path=path, times=times).with_overrides(retries=4)


@workflow
def retries_of_elements(folder: str, times: int) -> list[int]:
    from functools import partial

    return map_task(partial(flaky_item, folder=folder, times=times))(n=[1, 2]).with_overrides(retries=3)


@workflow
def everything(n: int) -> int:
    first = inc(n=n).with_overrides(
        node_name="1. Größe / of (it)",
        name="a name",
        requests=Resources(cpu="100m", mem="1Mi"),
        limits=Resources(cpu="2", mem="1Gi", ephemeral_storage="1Gi"),
        timeout=timedelta(minutes=5),
        retries=2,
        interruptible=True,
        container_image="other:1",
    )
    return inc(n=first).with_overrides(node_name="two", timeout=60)


@workflow
def of_several_outputs(n: int) -> int:
    made = two(n=n)
    made[0].with_overrides(name="both", retries=1)
    return inc(n=made[1])


@workflow
def sub(n: int) -> int:
    return inc(n=n).with_overrides(node_name="inside")


plan = LaunchPlan.get_or_create(sub, name="overriding-plan")


@workflow
def of_composites(n: int) -> tuple[int, int]:
    return sub(n=n).with_overrides(node_name="a-sub", name="x"), plan(n=n).with_overrides(node_name="a-plan")


@dynamic
def in_a_dynamic(n: int) -> int:
    made = n
    for k in range(n):
        made = inc(n=made).with_overrides(node_name=f"step-{k}", retries=1)
    return made


@workflow
def wf_in_a_dynamic(n: int) -> int:
    return in_a_dynamic(n=n)


@workflow
def created(n: int, path: str) -> tuple[int, int, int]:
    first = create_node(inc, n=n)
    second = create_node(sub, n=first.o0)
    third = create_node(plan, n=second.o0)
    pair = create_node(two, n=third.o0)
    silent = create_node(quiet, path=path)
    counted = create_node(size_of, path=path)
    silent >> counted
    return third.o0, pair.o1, counted.o0
