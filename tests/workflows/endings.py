"""Workflows that end in different ways, and some whose inputs are named like options of the command."""

import os
import sys
import time

from flytekit import dynamic, map_task, task, workflow
from flytekit.exceptions.user import FlyteRecoverableException


@task
def double(n: int) -> int:
    return 2 * n


@task
def refuse_odd(n: int) -> int:
    if n % 2:
        raise ValueError(f"{n} is odd")
    return n


@task
def wait_for(path: str) -> str:
    # A pipe of this name tells its reader when this process is gone.
    held = open(f"{path}.life", "w") if os.path.exists(f"{path}.life") else None
    while not os.path.exists(path):
        time.sleep(0.01)
    if held:
        held.close()
    return path


@task
def show(home: str, name: str, json: bool) -> str:
    return f"{home} {name} {json}"


@task(retries=1)
def talk(n: int) -> int:
    attempt = os.environ["FLYTE_ATTEMPT_NUMBER"]
    print(f"attempt {attempt} says {n}")
    print(f"attempt {attempt} complains", file=sys.stderr)
    if attempt == "0":
        raise FlyteRecoverableException("once more")
    return n


@task
def flood(lines: int) -> int:
    for k in range(lines):
        print(f"line {k}")
    return lines


@task
def talk_then_wait(path: str) -> str:
    print("before", flush=True)
    with open(path) as pipe:
        pipe.read()
    print("after")
    return path


@workflow
def talks(n: int) -> int:
    return talk(n=n)


@workflow
def floods(lines: int) -> int:
    return flood(lines=lines)


@workflow
def talks_then_waits(path: str) -> str:
    return talk_then_wait(path=path)


@workflow
def doubled(n: int = 4) -> int:
    return double(n=n)


@workflow
def even(n: int) -> int:
    return double(n=refuse_odd(n=n))


@workflow
def all_even(ns: list[int]) -> list[int]:
    return map_task(refuse_odd)(n=ns)


@task
def append(path: str) -> str:
    with open(path, "a") as file:
        file.write("x")
    return path


@dynamic
def plan_to_wait(path: str, count: int) -> list[str]:
    """One of its nodes waits; says when it is asked for its plan."""
    with open(f"{path}.plans", "a") as plans:
        plans.write("planned\n")
    return [wait_for(path=path), *[append(path=f"{path}.{k}") for k in range(count)]]


@workflow
def plans_and_waits(path: str, count: int) -> list[str]:
    return plan_to_wait(path=path, count=count)


@workflow
def waits(path: str) -> str:
    return wait_for(path=path)


@workflow
def named_like_options(home: str, name: str = "nobody", json: bool = False) -> str:
    return show(home=home, name=name, json=json)
