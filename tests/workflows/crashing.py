"""Workflows whose engine is killed. Each attempt appends marks of its start and its end to the file CRASH_MARKS."""

import fcntl
import json
import os
import time
from contextlib import contextmanager

from flytekit import LaunchPlan, dynamic, map_task, task, workflow
from flytekit.exceptions.user import FlyteRecoverableException

PAUSE_SECONDS = 0.01


def _born(pid: int) -> str:
    """Tells a process from a later one with the same number; "" where there is none, or a dead one."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


@contextmanager
def marked(place: str):
    """`alive`: attempts of the same place that still run when this one starts. There must be none."""
    name = f"{os.environ['FLYTE_INTERNAL_EXECUTION_ID']}/{place}[{os.environ.get('FLYTE_K8S_ARRAY_INDEX', '')}]"
    mine = {"key": f"{name}#{os.environ['FLYTE_ATTEMPT_NUMBER']}", "pid": os.getpid(), "born": _born(os.getpid())}
    with open(os.environ["CRASH_MARKS"], "a+") as marks:
        fcntl.flock(marks, fcntl.LOCK_EX)
        marks.seek(0)
        running = {}
        for mark in map(json.loads, marks):
            if mark["key"].rpartition("#")[0] == name:
                running[mark["pid"]] = mark if mark["what"] == "start" else None
        alive = [one["key"] for one in running.values() if one and _born(one["pid"]) == one["born"]]
        marks.write(json.dumps({"what": "start", **mine, "alive": alive}) + "\n")
        marks.flush()
        fcntl.flock(marks, fcntl.LOCK_UN)
        try:
            yield
        finally:
            marks.write(json.dumps({"what": "end", **mine, "alive": []}) + "\n")


@task(retries=3)
def flaky(n: int) -> int:
    with marked("flaky"):
        time.sleep(PAUSE_SECONDS)
        if n % 5 == 0 and os.environ["FLYTE_ATTEMPT_NUMBER"] == "0":
            raise FlyteRecoverableException(f"{n} is not ready")
        return n


@task
def total(ns: list[int]) -> int:
    with marked("total"):
        return sum(ns)


@task
def step(n: int, number: int) -> int:
    with marked(f"step{number}"):
        return n


@workflow
def many(ns: list[int]) -> list[int]:
    return map_task(flaky)(n=ns)


@workflow
def child(ns: list[int]) -> int:
    return total(ns=map_task(flaky)(n=ns))


child_plan = LaunchPlan.get_or_create(child, name="crash_child")


@workflow
def inner(ns: list[int]) -> int:
    return step(n=child_plan(ns=ns), number=1)


@workflow
def nested(ns: list[int]) -> int:
    return step(n=inner(ns=ns), number=2)


@workflow
def five(n: int) -> int:
    for number in range(5):
        n = step(n=n, number=number)
    return n


@task
def added(ns: list[int], place: str) -> int:
    with marked(f"added {place}"):
        return sum(ns)


five_plan = LaunchPlan.get_or_create(five, name="crash_five")


@dynamic
def deeper(n: int) -> int:
    with marked("deeper"):
        return added(ns=[step(n=k, number=200 + k) for k in range(n)], place="deeper")


@dynamic
def plan_all(n: int) -> int:
    """Tasks, a child execution, a map over a launch plan, and another plan."""
    with marked("plan"):
        steps = [step(n=k, number=100 + k) for k in range(n)]
        mapped = added(ns=map_task(five_plan)(n=list(range(n))), place="mapped")
        return added(ns=[*steps, mapped, child_plan(ns=list(range(n))), deeper(n=n)], place="all")


@workflow
def planned(n: int) -> int:
    return plan_all(n=n)
