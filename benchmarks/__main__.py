"""`make bench`, `make bench ONLY=W3`: measure, print, write latest.json."""

from __future__ import annotations

import gc
import sys
from collections.abc import Awaitable, Callable
from functools import partial

import anyio

from benchmarks.branches import branches_100, chain_2000
from benchmarks.crash import w6
from benchmarks.dynamics import dynamic_1000
from benchmarks.figures import HEAD, LATEST, Figure, line, write
from benchmarks.forking import forked_tasks
from benchmarks.gathering import INLINE, OFFLOADED, gathered
from benchmarks.gathering_s3 import gathered_s3, read_s3
from benchmarks.on_kafka import kafka_commits, kafka_nodes, kafka_restore
from benchmarks.on_kafka_together import kafka_nodes_together
from benchmarks.on_kubernetes import pod_to_pod, pods_made, pods_running
from benchmarks.restoring import restore_10000
from benchmarks.sizes import map_10000_failures, map_100000, size
from benchmarks.watching import view_1000
from benchmarks.workloads import w1, w2, w3, w4, w5

FIGURES: dict[str, Callable[[], Awaitable[list[Figure]]]] = {
    "W1": w1,
    "W2": w2,
    "W3": w3,
    "W4": w4,
    "W5": w5,
    "W6": w6,
    "gather-1000x100KB": partial(gathered, 1000, 100_000, INLINE, "gather-1000x100KB"),
    "gather-20x1MB": partial(gathered, 20, 1_000_000, INLINE, "gather-20x1MB"),
    "gather-offloaded": partial(gathered, 1000, 100_000, OFFLOADED, "gather-offloaded"),
    "gather-1GB": partial(gathered, 1000, 1_000_000, OFFLOADED, "gather-1GB"),
    "gather-s3-10MB": partial(gathered_s3, 100, 100_000, "gather-s3-10MB"),
    "gather-s3-100MB": partial(gathered_s3, 1000, 100_000, "gather-s3-100MB"),
    "gather-s3-1GB": partial(gathered_s3, 1000, 1_000_000, "gather-s3-1GB"),
    "read-s3-10000": read_s3,
    "kafka-commits": kafka_commits,
    "kafka-nodes": kafka_nodes,
    "kafka-restore": kafka_restore,
    **{
        name: partial(kafka_nodes_together, partitions, workers, name)
        for partitions, workers in ((1, 1), (2, 1), (4, 1), (2, 2), (4, 2))
        for name in [f"kafka-nodes-{partitions}x{workers}"]
    },
    "pods-made": pods_made,
    "pod-to-pod": pod_to_pod,
    "pods-running": pods_running,
    "forked-tasks": forked_tasks,
    **{f"size-{nodes}": partial(size, nodes) for nodes in (10, 100, 1_000, 10_000, 100_000)},
    "map-100000": map_100000,
    "restore-10000": restore_10000,
    "map-10000-failures": map_10000_failures,
    "view-1000": view_1000,
    "dynamic-1000": dynamic_1000,
    "branch-100": branches_100,
    "chain-2000": chain_2000,
}


def main(only: list[str]) -> int:
    unknown = [name for name in only if name not in FIGURES]
    if unknown:
        print(f"no such figure: {', '.join(unknown)}; there are {', '.join(FIGURES)}", file=sys.stderr)
        return 2
    gc.set_threshold(50_000, 20, 20)  # as the command does
    found: list[Figure] = []
    print(HEAD, flush=True)
    for name in only or FIGURES:
        figures = anyio.run(FIGURES[name], backend_options={"use_uvloop": True})
        for figure in figures:
            print(line(figure), flush=True)
        found.extend(figures)
    write(found)
    print(f"written to {LATEST.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
