"""Overhead per node against the size of the workflow (the curve should be flat), and large maps."""

from __future__ import annotations

import time
from collections.abc import Awaitable

import anyio
from msgspec import structs

from benchmarks.figures import Figure
from benchmarks.programs import collection, integer, lattice, literal_map, map_of
from benchmarks.reference import step_seconds
from benchmarks.workloads import ONE, run_one
from benchmarks.worlds import engine_on, execution, fresh_home
from engine.adapters.memory.runner import Script
from engine.adapters.memory.scripts import gives, raises
from engine.model.graph import ArraySpec
from engine.ports.blobstore import BlobStore
from engine.ports.taskrunner import Exit, TaskRequest
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


async def map_10000_failures() -> list[Figure]:
    """One element in a hundred fails and is tried again; one in a thousand fails for good, which is tolerated."""
    elements = 10_000
    plain, inputs = map_of(INT), literal_map(xs=collection([integer(k) for k in range(elements)]))
    (flow,) = plain.workflows.values()
    spec = structs.replace(flow.nodes["n0"], retries=1, array=ArraySpec(min_success_ratio=0.999))
    program = structs.replace(plain, workflows={flow.id: structs.replace(flow, nodes={**flow.nodes, "n0": spec})})

    def script(blobs: BlobStore) -> Script:
        works, again = gives(blobs, ONE), raises(blobs, "again", recoverable=True)
        for_good = raises(blobs, "for good")

        def play(request: TaskRequest) -> Exit | Awaitable[Exit]:
            index = request.key.index or 0
            if index % 1000 == 500:
                return for_good(request)
            return (again if index % 100 == 0 and request.key.attempt == 0 else works)(request)

        return play

    async with fresh_home() as home:
        step = await step_seconds(home)
        async with engine_on(home, program, script=script) as engine:
            seconds = await run_one(engine, program, 0, inputs)
            snapshot = await engine.log.snapshot(execution())
    assert snapshot is not None
    (state,) = [node.elements for node in snapshot.nodes if node.elements is not None]
    if (state.succeeded, state.failed) != (elements - 10, 10):
        raise SystemExit(f"{state.succeeded} elements succeeded and {state.failed} failed")
    note = "10,000 elements, 100 of them tried again, 10 lost"
    return [Figure("map-10000-failures", seconds, "s", elements * step, seconds / elements / step, note)]
