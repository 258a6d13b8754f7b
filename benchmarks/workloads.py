"""W1 to W5 of the design's speed table."""

from __future__ import annotations

import resource
import statistics
import sys
import time
from pathlib import Path

import anyio

from benchmarks.figures import Figure
from benchmarks.programs import collection, integer, literal_map, map_of, map_to_launch_plan, text
from benchmarks.reference import copy_seconds, step_seconds
from benchmarks.worlds import engine_on, execution, fresh_home
from engine.app import Engine
from engine.model.graph import Program
from tests.programs import INT, chain

ONE = literal_map(o0=integer(1))


async def run_one(engine: Engine, program: Program, number: int = 0, inputs: bytes = b"") -> float:
    """Seconds from the submission to the end of one execution."""
    begin = time.perf_counter()
    await engine.submit(execution(number), next(iter(program.workflows)), program.digest, inputs)
    ended = await engine.wait(execution(number))
    seconds = time.perf_counter() - begin
    if ended.phase.value != "SUCCEEDED":
        raise SystemExit(f"a workload failed: {ended.error}")
    return seconds


async def w1() -> list[Figure]:
    """A chain of 100 nodes, one after the other."""
    program = chain(100)
    async with fresh_home() as home:
        step = await step_seconds(home)
        async with engine_on(home, program, ONE) as engine:
            await run_one(engine, program, 0)
            times = [await run_one(engine, program, number) for number in range(1, 6)]
    value = statistics.median(times) / 100
    return [Figure("W1", value * 1e3, "ms/node", step * 1e3, value / step, "chain of 100 nodes")]


async def w2() -> list[Figure]:
    """A map of 1,000 elements, gathered."""
    program, inputs = map_of(INT), literal_map(xs=collection([integer(k) for k in range(1000)]))
    async with fresh_home() as home:
        step = await step_seconds(home)
        async with engine_on(home, program, ONE) as engine:
            times = [await run_one(engine, program, number, inputs) for number in range(4)]
    value = statistics.median(times[1:])
    return [Figure("W2", value, "s", 1000 * step, value / (1000 * step), "map of 1,000 elements, gathered")]


async def w3() -> list[Figure]:
    """500 executions of 5 nodes, submitted at once."""
    program = chain(5)
    async with fresh_home() as home:
        step = await step_seconds(home)
        async with engine_on(home, program, ONE) as engine:
            seconds = await run_many(engine, program, 500)
    rate = 2500 / seconds
    return [Figure("W3", rate, "nodes/s", 1 / step, 1 / rate / step, "500 executions x 5 nodes at once")]


async def run_many(engine: Engine, program: Program, count: int) -> float:
    """Seconds from the first submission to the last end."""
    begin = time.perf_counter()
    async with anyio.create_task_group() as group:
        for number in range(count):
            group.start_soon(run_one, engine, program, number)
    return time.perf_counter() - begin


async def w4() -> list[Figure]:
    """Submit to done of one node, with nothing else to do."""
    program = chain(1)
    async with fresh_home() as home:
        step = await step_seconds(home)
        async with engine_on(home, program, ONE) as engine:
            times = [await run_one(engine, program, number) for number in range(101)]
    p50 = statistics.median(times[1:])
    worst = sorted(times[1:])[98]
    return [Figure("W4", p50 * 1e3, "ms", step * 1e3, p50 / step, f"submit to done, p50 (p99 {worst * 1e3:.1f} ms)")]


async def w5() -> list[Figure]:
    """20 x 1 MB gathered and passed on to a launch plan; and what it costs in memory."""
    program, inputs = map_to_launch_plan(), literal_map(xs=collection([integer(k) for k in range(20)]))
    outputs = literal_map(o0=text(1_000_000))
    async with fresh_home() as home:
        seconds, megabytes = [], 0.0
        async with engine_on(home, program, outputs) as engine:
            await run_one(engine, program, 0, literal_map(xs=collection([integer(0)])))
            before = peak_megabytes()
            for number in range(1, 4):
                seconds.append(await run_one(engine, program, number, inputs))
            megabytes = peak_megabytes() - before
        plain = copy_of(home, outputs, 20)
    value = statistics.median(seconds)
    return [
        Figure("W5", value, "s", plain, value / plain, "20 x 1 MB gathered and passed on; reference: a plain copy"),
        Figure("W5-memory", megabytes, "MB", 0.0, 0.0, "more peak memory than with one element"),
    ]


def copy_of(home: Path, data: bytes, count: int) -> float:
    """Seconds to copy `count` files of these bytes into one."""
    return copy_seconds(plain_files(home, data, count), home / "copy")


def plain_files(home: Path, data: bytes, count: int) -> Path:
    """A folder with so many files of these bytes."""
    source = home / "plain"
    source.mkdir()
    for number in range(count):
        (source / f"{number:06d}").write_bytes(data)
    return source


def peak_megabytes() -> float:
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
