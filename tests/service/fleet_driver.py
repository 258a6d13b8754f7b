"""One process of engines on Kafka whose tasks do nothing: `python -m tests.service.fleet_driver ORDER` (JSON).

It says so on stdout whenever all partitions that it owns are taken up, and which these are; it ends with SIGTERM, or
when its stdin does.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path

import anyio
import msgspec
from msgspec import Struct

from engine.adapters.files.blobs import FileBlobs
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.options import KafkaOptions
from engine.adapters.memory.runner import NoopRunner
from engine.adapters.memory.scripts import copies, takes
from engine.adapters.systemclock import SystemClock
from engine.app import Equipment
from engine.cli import logs
from engine.cli.session import Session, run_session
from engine.fleet import Fleet, fleet_on
from engine.loop.backoff import Backoff
from engine.model.graph import ArraySpec, Program
from engine.model.limits import ArrayLimits, ExecutionLimits, OffloadLimits, RetryLimits
from tests.programs import INT, chain, graph, interface, list_of, mapped, node, program, promise

CHAIN, MAP = "wf", "many"
DEADLINE_SECONDS = 10.0
"""For a stop in all."""


class Order(Struct, frozen=True):
    bootstrap: str
    name: str
    """Of the topics and of the group."""
    store: str
    instance: str
    partitions: int
    session_seconds: float = 2.0
    task_seconds: float = 0.0
    load_seconds: float = 0.0
    """For reading a package: what is left unfinished is taken up only then."""
    commit_seconds: float = 20.0
    watchdog_seconds: float = 120.0

    def options(self) -> KafkaOptions:
        return KafkaOptions(
            self.bootstrap,
            prefix=self.name,
            group=self.name,
            partitions=self.partitions,
            session_seconds=self.session_seconds,
            instance=self.instance or None,
            commit_seconds=self.commit_seconds,
            watchdog_seconds=self.watchdog_seconds,
        )


def workflows() -> Program:
    """A chain of five nodes, and a map over the list `xs`."""
    line = chain(5)
    work = next(iter(line.tasks.values()))
    many = mapped(work)
    wide = graph(
        MAP,
        [node("n0", many.id, array=ArraySpec(), bindings=[promise("a", "", "xs")])],
        outputs=[promise("o0", "n0")],
        face=interface({"xs": list_of(INT)}, {"o0": list_of(INT)}),
    )
    return program([*line.workflows.values(), wide], [work, many])


async def _run(order: Order, session: Session) -> int:
    session.deadline_seconds = DEADLINE_SECONDS
    session.stops_with(0)
    both = workflows()

    async def load(digest: str) -> Program:
        await anyio.sleep(order.load_seconds)
        return both

    async with FileBlobs.open(Path(order.store)) as blobs:
        script = copies(blobs)
        equipment = Equipment(
            blobs=blobs,
            runner=NoopRunner(takes(order.task_seconds, script) if order.task_seconds else script),
            clock=SystemClock(),
            offload=OffloadLimits(),
            retries=RetryLimits(),
            arrays=ArrayLimits(),
            executions=ExecutionLimits(),
            backoff=Backoff(),
            load=load,
        )
        async with fleet_on(equipment, Clients(order.options(), {})) as fleet, anyio.create_task_group() as group:
            group.start_soon(_end_with_stdin)
            await _tell(fleet)
    return 0


async def _tell(fleet: Fleet) -> None:
    told: list[int] | None = None
    while True:
        now = sorted(fleet.engines) if fleet.ready else None
        if now is not None and now != told:
            told = now
            print(msgspec.json.encode(told).decode(), flush=True)
        # No event tells of it; this is only for the test to see.
        await anyio.sleep(0.02)


async def _end_with_stdin() -> None:
    await anyio.wait_readable(sys.stdin.fileno())
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    logs.configure(verbose=False, as_json=False)
    sys.exit(run_session(partial(_run, msgspec.json.decode(sys.argv[1], type=Order))))
