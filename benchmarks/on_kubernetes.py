"""Tasks as pods on a real API server and scheduler, whose kubelet only plays them: what the engine does with them."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import msgspec

from benchmarks.figures import Figure
from benchmarks.programs import collection, integer, literal_map, map_of
from benchmarks.workloads import ONE, run_one
from benchmarks.worlds import fresh_home
from config.load import load
from engine.app import Engine, running
from engine.homes import open_parts
from engine.model.graph import Program
from tests.backing.kubernetes.specs import Script
from tests.backing.session import KINDS, Servers
from tests.clusters import Document, Space, space
from tests.programs import INT, chain

PODS, RUNNING, STEPS = 400, 2000, 60
IDLE_SECONDS, SETTLE_SECONDS = 10.0, 3.0
_PAGE = os.sysconf("SC_PAGE_SIZE")


@asynccontextmanager
async def cluster() -> AsyncIterator[Space | None]:
    """None: there is none, and none can be started."""
    if reason := KINDS["kubernetes"].absent():
        print(f"kubernetes: left out, {reason}")
        yield None
        return
    servers = Servers()
    try:
        await anyio.to_thread.run_sync(servers.ensure, "kubernetes")
        async with space("bench") as at:
            yield at
    finally:
        servers.stop()


@asynccontextmanager
async def engine_in(
    at: Space, home: Path, program: Program, script: Script, more: Mapping[str, str] = {}
) -> AsyncIterator[Engine]:
    settings = load(None, list(at.settings(script, more=more)), {})

    async def given(digest: str) -> Program:
        return program

    async with open_parts(home, settings) as parts, running(replace(parts, load=given)) as engine:
        yield engine


async def pods_made() -> list[Figure]:
    """A map of many elements: how fast pods are made, beside what is allowed."""
    figures = []
    async with cluster() as at:
        for allowed in (50, 100, 400) if at else ():
            assert at is not None
            program, times = map_of(INT), Times()
            async with fresh_home() as home, times.taken(at):
                script, limits = Script(runs_seconds=15.0, copies=True), {"kubernetes.burst": "1"}
                limits["kubernetes.calls_per_second"] = str(allowed)
                async with engine_in(at, home, program, script, limits) as engine:
                    await run_one(engine, program, allowed, numbers(PODS))
            made = sorted(times.added.values())
            rate = (PODS - 1) / (made[-1] - made[0])
            note = f"a map of {PODS}; the reference is the limit that is configured"
            figures.append(Figure(f"pods-made-{allowed}", rate, "pods/s", allowed, allowed / rate, note))
    return figures


async def pod_to_pod() -> list[Figure]:
    """A chain: from the end of a pod, as the API server tells it, to when the next one is there."""
    async with cluster() as at:
        if at is None:
            return []
        program, times = chain(STEPS), Times()
        async with fresh_home() as home, times.taken(at), engine_in(at, home, program, Script(copies=True)) as engine:
            await run_one(engine, program, 0, ONE)
        ends, starts = sorted(times.ended.values()), sorted(times.added.values())
        gaps = sorted(start - end for end, start in zip(ends, starts[1:], strict=False))
        p90 = gaps[int(len(gaps) * 0.9)] * 1e3
        note = f"the end of a pod to the next pod (p90 {p90:.0f} ms), chain of {STEPS}"
        return [Figure("pod-to-pod", statistics.median(gaps) * 1e3, "ms", 0, 0, note)]


async def pods_running() -> list[Figure]:
    """What an engine costs while many pods run and nothing happens."""
    async with cluster() as at, fresh_home() as home:
        if at is None:
            return []
        program, times = map_of(INT), Times(RUNNING)
        settings = {"kubernetes.calls_per_second": "1000", "array.max_in_flight": str(RUNNING)}
        async with engine_in(at, home, program, Script(runs_seconds=None), settings) as engine:
            before = resident()
            async with anyio.create_task_group() as group:
                group.start_soon(run_one, engine, program, 0, numbers(RUNNING))
                async with times.taken(at):
                    await times.enough.wait()
                await anyio.sleep(SETTLE_SECONDS)
                after, began = resident(), time.process_time()
                await anyio.sleep(IDLE_SECONDS)
                share = (time.process_time() - began) / IDLE_SECONDS
                group.cancel_scope.cancel()
    note = f"{RUNNING} pods run, of one map"
    return [
        Figure("pods-idle-cpu", share * 100, "% a core", 0, 0, note),
        Figure("pods-memory", (after - before) / RUNNING * 1000 / 2**20, "MiB", 0, 0, f"for 1,000 of them; {note}"),
    ]


class Times:
    """When pods appeared and ended, by name, as a watch told it."""

    def __init__(self, wanted: int = 0) -> None:
        self.added: dict[str, float] = {}
        self.ended: dict[str, float] = {}
        self.enough = anyio.Event()
        """So many run."""
        self._wanted, self._running = wanted, set[str]()

    @asynccontextmanager
    async def taken(self, at: Space) -> AsyncIterator[None]:
        async with anyio.create_task_group() as group:
            group.start_soon(self._follow, at, await at.version())
            yield
            group.cancel_scope.cancel()

    async def _follow(self, at: Space, since: str) -> None:
        """The server ends the stream of one who reads too slowly."""
        while True:
            async for event in at.api.watch(f"{at.path}/pods", resourceVersion=since):
                pod = msgspec.json.decode(event.object, type=Document)
                if event.type == "ERROR":
                    raise SystemExit(f"what became of pods is not known: {pod}")
                since = pod["metadata"]["resourceVersion"]
                if event.type != "BOOKMARK":
                    self._see(event.type, pod["metadata"]["name"], pod["status"].get("phase", ""))

    def _see(self, kind: str, name: str, phase: str) -> None:
        now = time.perf_counter()
        if kind == "ADDED":
            self.added[name] = now
        elif phase == "Succeeded":
            self.ended.setdefault(name, now)
        elif phase == "Running":
            self._running.add(name)
            if len(self._running) == self._wanted:
                self.enough.set()


def numbers(count: int) -> bytes:
    return literal_map(xs=collection([integer(number) for number in range(count)]))


def resident() -> int:
    """Bytes."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE
