"""The part of the long round in which tasks are pods: kills at every place, an API server in every kind of trouble."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from tests.backing.kubernetes import cluster
from tests.backing.kubernetes.cluster import Cluster
from tests.backing.kubernetes.faulty import Ended
from tests.backing.kubernetes.specs import Script
from tests.backing.session import KINDS
from tests.service.crash_driver import PLACES
from tests.service.crashes import Driver
from tests.service.podtrials import Make, all_run, trials
from tests.service.workloads import mapped

COUNTS = (1, 3, 8, 12, 20)
PODS, MANY, CROWD = 20, 200, 1000
AWAY_SECONDS = 60.0
Round = Callable[[Make], Awaitable[None]]


def pods_broken(engines: Driver, package: Path, folder: Path) -> int:
    """How many promises were broken; says which."""
    kind = KINDS["kubernetes"]
    if reason := cluster.missing():
        print(f"\ntasks as pods: left out, {reason}", flush=True)
        return 0
    print("\ntasks as pods", flush=True)
    started, kubeconfig = cluster.start()
    os.environ[kind.variable] = kubeconfig
    try:
        told = [
            _told(engines, package, folder / str(number), name, one)
            for number, (name, one) in enumerate(_rounds(started))
        ]
        return told.count(False)
    finally:
        del os.environ[kind.variable]
        started.stop()


def _told(engines: Driver, package: Path, folder: Path, name: str, one: Round) -> bool:
    async def run() -> None:
        async with trials(engines, package, folder) as make:
            await one(make)

    folder.mkdir(parents=True)
    began, problem = time.monotonic(), ""
    try:
        anyio.run(run)
    except* (AssertionError, TimeoutError) as problems:
        problem = f", BROKEN: {problems.exceptions[0]!r}"
    print(f"  {name}: {time.monotonic() - began:.0f} s{problem}", flush=True)
    return not problem


def _rounds(started: Cluster) -> Iterator[tuple[str, Round]]:
    for place, count in itertools.product(PLACES, COUNTS):
        yield f"killed at {place} {count}", partial(_killed, place, count)
    yield f"the API server is away for {AWAY_SECONDS:.0f} s", _away
    yield f"every watch ends after 5 s, {MANY} pods", _cut
    yield f"{CROWD} pods are deleted at once", _deleted
    if started.plane:
        yield "the API server is killed while pods run", partial(_server_killed, started)


async def _killed(place: str, count: int, make: Make) -> None:
    one = await make(mapped(PODS), Script(runs_seconds=0.3, copies=True))
    await to_thread.run_sync(partial(one.run.life, place=place, count=count))
    await one.finish(PODS)


async def _away(make: Make) -> None:
    one = await make(mapped(PODS), Script(runs_seconds=5, copies=True))
    one.run.limit_seconds = 300
    async with anyio.create_task_group() as group:
        group.start_soon(one.finish, PODS)
        await one.at.until(all_run(PODS))
        await one.proxy.down()
        await anyio.sleep(AWAY_SECONDS)
        await one.proxy.up()


async def _cut(make: Make) -> None:
    """Some pods start and end in each minute that a map of them takes."""
    one = await make(mapped(MANY), Script(runs_seconds=6, copies=True), kubernetes__max_pods=20)
    one.run.limit_seconds = 300
    one.proxy.choose = lambda request: Ended(5) if request.watches else None
    await one.finish(MANY)


async def _deleted(make: Make) -> None:
    scripts = Script(runs_seconds=None), Script(copies=True)
    one = await make(mapped(CROWD), *scripts, kubernetes__calls_per_second=1000)
    one.run.limit_seconds = 600
    async with anyio.create_task_group() as group:
        group.start_soon(one.finish, 2 * CROWD, CROWD)
        await one.at.until(all_run(CROWD), 300)
        await one.at.api.delete(f"{one.at.path}/pods", {"gracePeriodSeconds": 0})


async def _server_killed(started: Cluster, make: Make) -> None:
    one = await make(mapped(PODS), Script(runs_seconds=3, copies=True))
    one.run.limit_seconds = 300
    async with anyio.create_task_group() as group:
        group.start_soon(one.finish, PODS)
        await one.at.until(all_run(PODS))
        assert started.plane
        await to_thread.run_sync(started.plane.api.kill)
        await to_thread.run_sync(started.plane.begin)
