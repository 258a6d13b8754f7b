"""A @dynamic task that plans 1,000 nodes: read, checked, stored, compiled and run."""

from __future__ import annotations

import statistics

from flyteidl.core.types_pb2 import LiteralType

from benchmarks.figures import Figure
from benchmarks.programs import integer, literal_map
from benchmarks.reference import step_seconds
from benchmarks.workloads import run_one
from benchmarks.worlds import engine_on, fresh_home
from engine.adapters.memory.runner import Script
from engine.adapters.memory.scripts import by_node, gives, plans
from engine.ports.blobstore import BlobStore
from engine.wire.compile import compile_package
from tests.literal_types import INT
from tests.packages import constant, items, node, output, registered, task, workflow
from tests.plans import futures

NODES = 1_000
LIST = LiteralType(collection_type=INT)


async def dynamic_1000() -> list[Figure]:
    """1,000 nodes at once, whose outputs make one list."""
    work, dynamic = task("m.work"), task("m.dynamic", {}, {"o0": LIST})
    flow = workflow("m.w", node("n0", runs="m.dynamic"), inputs={}, gives={"o0": (LIST, output("n0"))})
    program = compile_package(registered(work, dynamic, flow)).program
    planned = futures(
        *(node(f"dn{k}", {"a": constant(k)}, runs="m.work") for k in range(NODES)),
        gives={"o0": items(*(output(f"dn{k}") for k in range(NODES)))},
        tasks=[work],
    )
    one = literal_map(o0=integer(1))

    def script(blobs: BlobStore) -> Script:
        return by_node({"n0": plans(blobs, planned)}, gives(blobs, one))

    async with fresh_home() as home:
        step = await step_seconds(home)
        async with engine_on(home, program, script=script) as engine:
            times = [await run_one(engine, program, number) for number in range(4)]
    value = statistics.median(times[1:])
    words = f"a dynamic task that plans {NODES:,} nodes at once"
    return [Figure("dynamic-1000", value, "s", NODES * step, value / (NODES * step), words)]
