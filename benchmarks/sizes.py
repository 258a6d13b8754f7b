"""Overhead per node against the size of the workflow (the curve should be flat), and a map of 100,000 elements."""

from __future__ import annotations

import time

import anyio

from benchmarks.figures import Figure
from benchmarks.programs import collection, integer, lattice, literal_map, map_of
from benchmarks.reference import step_seconds
from benchmarks.workloads import ONE, run_one
from benchmarks.worlds import engine_on, execution, fresh_home
from tests.programs import INT

TICK_SECONDS = 0.005


async def size(nodes: int) -> list[Figure]:
    program = lattice(nodes)
    async with fresh_home() as home:
        step = await step_seconds(home)
        async with engine_on(home, program, ONE) as engine:
            value = await run_one(engine, program) / nodes
    return [Figure(f"size-{nodes}", value * 1e3, "ms/node", step * 1e3, value / step, f"{nodes:,} nodes, 100 at once")]


async def map_100000() -> list[Figure]:
    """State per element, and the longest time for which the event loop did nothing else."""
    elements, longest = 100_000, 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            begin = time.perf_counter()
            await anyio.sleep(TICK_SECONDS)
            longest = max(longest, time.perf_counter() - begin - TICK_SECONDS)

    program, inputs = map_of(INT), literal_map(xs=collection([integer(k) for k in range(elements)]))
    async with fresh_home() as home:
        step = await step_seconds(home)
        async with engine_on(home, program, ONE) as engine, anyio.create_task_group() as group:
            group.start_soon(watch)
            seconds = await run_one(engine, program, 0, inputs)
            snapshot = await engine.log.snapshot(execution())
            group.cancel_scope.cancel()
    assert snapshot is not None
    state = next(node.elements for node in snapshot.nodes if node.elements is not None)
    per_element = sum(len(chunk) for chunk in state.chunks) / elements
    note = f"state {per_element:.2f} bytes an element, longest stall of the loop {longest * 1e3:.0f} ms"
    return [Figure("map-100000", seconds, "s", elements * step, seconds / elements / step, note)]
