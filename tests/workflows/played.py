"""Tasks that the kubelet of the tests plays as their environment says: no flytekit runs in their pods."""

import json

from flytekit import LaunchPlan, map_task, task, workflow


def plays(*scripts: dict) -> dict[str, str]:
    """One script for each attempt; the last one for all that follow."""
    return {"PROPWASH_TEST_SCRIPT": json.dumps(scripts)}


EVICTED = {"exit": 137, "reason": "Evicted", "message": "the node was low on resource: memory"}
PREEMPTED = {"exit": 137, "reason": "Preempting"}
WELL = {"copies": True}


@task(environment=plays(EVICTED, PREEMPTED, WELL), interruptible=True)
def disrupted(n: int) -> int:
    return n


@task(environment=plays(EVICTED), interruptible=True)
def always_disrupted(n: int) -> int:
    return n


@task(environment=plays({"exit": 137, "reason": "OOMKilled"}))
def greedy(n: int) -> int:
    return n


@task(environment=plays({"runs_seconds": None}))
def hangs(n: int) -> int:
    return n


@task(environment=plays({"runs_seconds": None, "stubborn": True}))
def heeds_nobody(n: int) -> int:
    return n


@task(environment=plays({"waits": "ImagePullBackOff", "waits_seconds": 1.0, **WELL}))
def late_image(n: int) -> int:
    return n


@task(container_image="r/only-arm64:1", retries=3)
def only_arm(n: int) -> int:
    return n


@task(container_image="r/built-for-arm64:1", retries=3)
def built_for_arm(n: int) -> int:
    return n


@task(environment=plays({"exit": 3, "runs_seconds": 2.0}))
def fails(n: int) -> int:
    return n


@task(environment=plays(WELL))
def well(n: int) -> int:
    return n


@workflow
def plain(ns: list[int]) -> list[int]:
    return map_task(well)(n=ns)


@workflow
def disruption(n: int) -> int:
    return disrupted(n=n)


@workflow
def disruptions(ns: list[int]) -> list[int]:
    return map_task(disrupted)(n=ns)


@workflow
def no_end_of_disruptions(n: int) -> int:
    return always_disrupted(n=n)


@workflow
def out_of_memory(n: int) -> int:
    return greedy(n=n)


@workflow
def an_image_comes_late(n: int) -> int:
    return late_image(n=n)


@workflow
def no_image(n: int) -> int:
    return only_arm(n=n)


@workflow
def another_machines_image(n: int) -> int:
    return built_for_arm(n=n)


@workflow
def waiting(n: int) -> int:
    return heeds_nobody(n=n)


waiting_plan = LaunchPlan.get_or_create(waiting, name="played_waiting")


@workflow
def one_fails(n: int, ns: list[int]) -> None:
    """Beside it run a pod, a map and a child execution."""
    fails(n=n)
    hangs(n=n)
    map_task(hangs)(n=ns)
    waiting_plan(n=n)


@workflow
def all_hang(n: int, ns: list[int]) -> None:
    hangs(n=n)
    map_task(hangs)(n=ns)
    waiting_plan(n=n)


ARM, AMD = {"kubernetes.io/arch": "arm64"}, {"kubernetes.io/arch": "amd64"}


@task(environment=plays({"runs_seconds": 5.0, **WELL}), labels=ARM)
def on_arm(n: int) -> int:
    return n


@task(environment=plays(WELL), labels=AMD)
def on_amd(n: int) -> int:
    return n


@workflow
def wide_and_long(ns: list[int], n: int) -> tuple[list[int], int]:
    """A map on one architecture, and beside it a chain on another."""
    many = map_task(on_arm)(n=ns)
    for _ in range(5):
        n = on_amd(n=n)
    return many, n
