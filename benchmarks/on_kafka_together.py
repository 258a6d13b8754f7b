"""Several partitions and several processes on a real broker: nodes a second."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import anyio
from anyio.abc import Process, TaskGroup
from anyio.streams.text import TextReceiveStream

from benchmarks.figures import Figure
from benchmarks.on_kafka import topics_of_a_broker
from benchmarks.worlds import execution, fresh_home
from engine.adapters.kafka.appender import Appender
from engine.adapters.kafka.options import KafkaOptions
from engine.adapters.kafka.records import event_message
from engine.model.events import ExecutionSubmitted
from tests.programs import chain

EXECUTIONS, WARM = 1000, 100
ROOT = Path(__file__).parent.parent


async def kafka_nodes_together(partitions: int, workers: int, name: str) -> list[Figure]:
    """1,000 executions of 5 nodes, published at once, and worked on by so many processes."""
    async with topics_of_a_broker(partitions) as clients, fresh_home() as home:
        if clients is None:
            return []
        async with Appender.open(clients) as appender, anyio.create_task_group() as group:
            team = Team()
            for _ in range(workers):
                await team.hire(group, clients.options, home)
            await team.until("owned", partitions)
            await _publish(appender, clients.options, 0, WARM)
            await team.until("ended", WARM)
            begin = time.perf_counter()
            await _publish(appender, clients.options, WARM, EXECUTIONS)
            await team.until("ended", WARM + EXECUTIONS)
            rate = 5 * EXECUTIONS / (time.perf_counter() - begin)
            team.leave()
    note = f"{EXECUTIONS} executions x 5 nodes, {partitions} partitions, {workers} processes"
    return [Figure(name, rate, "nodes/s", 0, 0, note)]


async def _publish(appender: Appender, options: KafkaOptions, first: int, count: int) -> None:
    program = chain(5)
    entity = next(iter(program.workflows))
    numbers = range(first, first + count)
    events = [ExecutionSubmitted(execution(n), entity, program.digest, submitted_at=1.0, run="1") for n in numbers]
    await appender.send([event_message(event, options) for event in events], lambda: None).wait()


class Team:
    """Processes of one group, and what they have told, added up."""

    def __init__(self) -> None:
        self._processes: list[Process] = []
        self._told: dict[str, Counter[int]] = {"owned": Counter(), "ended": Counter()}
        self._news = anyio.Event()

    async def hire(self, group: TaskGroup, options: KafkaOptions, home: Path) -> None:
        said = [options.bootstrap, options.prefix, str(options.partitions), str(home)]
        process = await anyio.open_process([sys.executable, "-m", "benchmarks.member", *said], stderr=None, cwd=ROOT)
        self._processes.append(process)
        group.start_soon(self._listen, process)

    async def until(self, what: str, total: int) -> None:
        while sum(self._told[what].values()) < total:
            self._news = anyio.Event()
            await self._news.wait()

    def leave(self) -> None:
        for process in self._processes:
            process.kill()

    async def _listen(self, process: Process) -> None:
        assert process.stdout is not None
        rest = ""
        async for text in TextReceiveStream(process.stdout):
            *lines, rest = (rest + text).split("\n")
            for line in lines:
                what, number = line.split()
                self._told[what][process.pid] = int(number)
            self._news.set()
        await process.wait()
