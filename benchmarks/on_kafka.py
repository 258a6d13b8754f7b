"""The event log on a real broker, one partition: what a commit takes, nodes a second, latency, and taking over."""

from __future__ import annotations

import statistics
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread

from benchmarks.figures import Figure
from benchmarks.workloads import ONE, run_many, run_one
from benchmarks.worlds import engine_with, execution, fresh_home
from engine.adapters.kafka import topics
from engine.adapters.kafka.appender import Appender
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.log import KafkaLog
from engine.adapters.kafka.options import KafkaOptions
from engine.model.graph import NodeKind
from engine.model.ids import EntityId, EntityKind
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Execution, Fact, Node
from engine.ports.eventlog import Changes, Record
from tests.backing.session import KINDS, Servers, address
from tests.programs import chain

LIVE = 100_000
WORKFLOW = EntityId(EntityKind.WORKFLOW, "bench", "development", "wf", "v1")


async def kafka_commits() -> list[Figure]:
    """Commits of some states and facts, one after the other."""
    figures = []
    async with partition() as found:
        if found is None:
            return []
        clients, appender = found
        async with KafkaLog.open(clients, 0, appender) as log:
            for size in (1, 10, 100, 500):
                times = []
                for number in range(60 if size < 500 else 20):
                    changes = _changes(f"c{size}-{number}", size)
                    begin = time.perf_counter()
                    await log.commit((), changes)
                    times.append(time.perf_counter() - begin)
                times.sort()
                p50, p99 = statistics.median(times) * 1e3, times[int(len(times) * 0.99) - 1] * 1e3
                figures.append(
                    Figure(f"kafka-commit-{size}", p50, "ms", 0, 0, f"states and facts each; p99 {p99:.1f} ms")
                )
    return figures


async def kafka_nodes() -> list[Figure]:
    """500 executions of 5 nodes at once, and one execution alone."""
    program, single = chain(5), chain(1)
    async with partition() as found, fresh_home() as home:
        if found is None:
            return []
        clients, appender = found
        async with KafkaLog.open(clients, 0, appender) as log, engine_with(log, home, program, ONE) as engine:
            await run_many(engine, program, 20)
            begin = time.perf_counter()
            async with anyio.create_task_group() as group:
                for number in range(1000, 1500):
                    group.start_soon(run_one, engine, program, number)
            rate = 2500 / (time.perf_counter() - begin)
    async with partition() as found, fresh_home() as home:
        assert found is not None
        clients, appender = found
        async with Timed.open(clients, 0, appender) as log, engine_with(log, home, single, ONE) as engine:
            times = sorted([await run_one(engine, single, number) for number in range(101)][1:])
            assert isinstance(log, Timed)
            share = sum(log.seconds) / sum(times)
    latency = f"submit to done of one node (p99 {times[98] * 1e3:.0f} ms)"
    turns = f"of an idle latency, in {len(log.seconds) / 101:.1f} transactions"
    return [
        Figure("kafka-nodes", rate, "nodes/s", 0, 0, "500 executions x 5 nodes at once, 1 partition"),
        Figure("kafka-latency", statistics.median(times) * 1e3, "ms", 0, 0, latency),
        Figure("kafka-transactions", 100 * share, "%", 0, 0, turns),
    ]


class Timed(KafkaLog):
    """Remembers how long each commit took."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.seconds: list[float] = []

    async def commit(self, records: Sequence[Record], changes: Changes) -> None:
        began = time.perf_counter()
        await super().commit(records, changes)
        self.seconds.append(time.perf_counter() - began)


async def kafka_restore() -> list[Figure]:
    """Taking over a partition with 100,000 unfinished executions of two nodes."""
    async with partition() as found:
        if found is None:
            return []
        clients, appender = found
        async with KafkaLog.open(clients, 0, appender) as log:
            for first in range(0, LIVE, 1000):
                await log.commit((), _live(first, 1000))
        begin = time.perf_counter()
        async with KafkaLog.open(clients, 0, appender) as log:
            count = 0
            async for _ in log.restore():
                count += 1
        seconds = time.perf_counter() - begin
        assert count == LIVE
    return [Figure("kafka-restore", seconds, "s", 0, 0, f"{LIVE} unfinished executions with 2 nodes each, 1 partition")]


@asynccontextmanager
async def partition() -> AsyncIterator[tuple[Clients, Appender] | None]:
    """A fresh partition, with a writer of events."""
    async with topics_of_a_broker(1) as clients:
        if clients is None:
            yield None
            return
        async with Appender.open(clients) as appender:
            yield clients, appender


@asynccontextmanager
async def topics_of_a_broker(partitions: int) -> AsyncIterator[Clients | None]:
    """Fresh topics on a broker of this run's own, or on that of PROPWASH_TEST_KAFKA; None where there is none."""
    if reason := KINDS["kafka"].absent():
        print(f"no Kafka: {reason}")
        yield None
        return
    servers = Servers()
    try:
        await anyio.to_thread.run_sync(servers.ensure, "kafka")
        name = f"bench-{uuid.uuid4().hex[:8]}"
        clients = Clients(KafkaOptions(address("kafka"), prefix=name, group=name, partitions=partitions), {})
        await topics.prepare(clients)
        yield clients
    finally:
        await anyio.to_thread.run_sync(servers.stop)


def _changes(name: str, size: int) -> Changes:
    owner = execution()
    return Changes(
        nodes=[(owner, Node(f"{name}-n{k}", NodeKind.TASK, NodePhase.QUEUED)) for k in range(size)],
        facts=[Fact(owner, int(time.time() * 1e6) + k, 1.0, "QUEUED", f"n{k}") for k in range(size)],
    )


def _live(first: int, count: int) -> Changes:
    ids = [execution(number) for number in range(first, first + count)]
    return Changes(
        executions=[Execution(each, WORKFLOW, WORKFLOW, "digest", ExecutionPhase.RUNNING) for each in ids],
        nodes=[(each, Node(f"n{k}", NodeKind.TASK, NodePhase.RUNNING)) for each in ids for k in range(2)],
    )
