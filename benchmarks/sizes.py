"""Overhead per node against the size of the workflow (the curve should be flat), and a map of 100,000 elements."""

from __future__ import annotations

import time

from benchmarks.figures import Figure
from benchmarks.programs import collection, integer, lattice, literal_map, map_of
from benchmarks.reference import step_seconds
from benchmarks.workloads import ONE, run_one
from benchmarks.worlds import engine_on, execution, fresh_home
from engine.loop.hooks import Place
from tests.programs import INT


async def size(nodes: int) -> list[Figure]:
    program = lattice(nodes)
    async with fresh_home() as home:
        step = await step_seconds(home)
        async with engine_on(home, program, ONE) as engine:
            value = await run_one(engine, program) / nodes
    return [Figure(f"size-{nodes}", value * 1e3, "ms/node", step * 1e3, value / step, f"{nodes:,} nodes, 100 at once")]


async def map_100000() -> list[Figure]:
    """State per element, and the longest turn."""
    elements, turns, began = 100_000, [0.0], [0.0]

    def hook(place: Place) -> None:
        now = time.perf_counter()
        if place == "before_commit" and began[0]:
            turns.append(now - began[0])
        began[0] = now

    program, inputs = map_of(INT), literal_map(xs=collection([integer(k) for k in range(elements)]))
    async with fresh_home() as home:
        step = await step_seconds(home)
        async with engine_on(home, program, ONE, hook) as engine:
            seconds = await run_one(engine, program, 0, inputs)
            snapshot = await engine.log.snapshot(execution())
    assert snapshot is not None
    state = next(node.elements for node in snapshot.nodes if node.elements is not None)
    per_element = sum(len(chunk) for chunk in state.chunks) / elements
    note = f"state {per_element:.2f} bytes an element"
    return [Figure("map-100000", seconds, "s", elements * step, seconds / elements / step, note)]
