"""Several processes of engines on one broker, what is asked of them, and what the topics say about it afterwards."""

from __future__ import annotations

import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
import msgspec
from aiokafka import TopicPartition
from anyio.abc import Process, TaskGroup, TaskStatus
from anyio.streams.text import TextReceiveStream

from engine.adapters.kafka import faults, topics
from engine.adapters.kafka.appender import Appender
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.records import event_message
from engine.model.events import ExecutionSubmitted
from engine.model.ids import ExecutionId
from engine.model.phases import ExecutionPhase
from engine.model.state import Fact
from engine.wire import codec
from tests.backing.session import address
from tests.programs import workflow_id
from tests.service.fleet_driver import CHAIN, MAP, Order
from tests.service.topic_evidence import Evidence, gather

ROOT = Path(__file__).parents[2]
LIMIT_SECONDS = 120.0
ENDED = {phase.value for phase in (ExecutionPhase.SUCCEEDED, ExecutionPhase.FAILED, ExecutionPhase.ABORTED)}


class Member:
    """One process. `owned`: what it has said that it works on, last."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.owned: list[int] | None = None
        self.paused = False
        self._said = anyio.Event()

    async def listen(self) -> None:
        assert self.process.stdout is not None
        text = ""
        async for part in TextReceiveStream(self.process.stdout):
            *lines, text = (text + part).split("\n")
            for line in lines:
                self.owned = msgspec.json.decode(line, type=list[int])
                self._said.set()
                self._said = anyio.Event()

    async def until_it_owns(self, *counts: int) -> None:
        """So many partitions, all of them taken up."""
        with anyio.fail_after(LIMIT_SECONDS):
            while self.owned is None or len(self.owned) not in counts:
                await self._said.wait()


class Fleets:
    """The group of one test, on topics of its own."""

    def __init__(self, folder: Path, bootstrap: str, partitions: int, session_seconds: float) -> None:
        self.name = f"f{uuid.uuid4().hex[:12]}"
        self._order = Order(bootstrap, self.name, str(folder / "store"), "", partitions, session_seconds)
        self.clients = Clients(self._order.options(), {})
        self._appender: Appender
        self._tasks: TaskGroup
        self.members: dict[str, Member] = {}
        self.ended: dict[ExecutionId, str] = {}
        """Execution -> the phase it ended in, as the history says."""
        self.running: set[ExecutionId] = set()
        """Executions of which a task was started."""
        self._more = anyio.Event()

    @classmethod
    @asynccontextmanager
    async def open(
        cls, folder: Path, *, partitions: int, session_seconds: float = 2.0, bootstrap: str = ""
    ) -> AsyncIterator[Fleets]:
        """bootstrap: of a broker of the test's own."""
        fleets = cls(folder, bootstrap or address("kafka"), partitions, session_seconds)
        await topics.prepare(fleets.clients)
        async with Appender.open(fleets.clients) as appender, anyio.create_task_group() as tasks:
            fleets._appender, fleets._tasks = appender, tasks
            await tasks.start(fleets._follow)
            try:
                yield fleets
            finally:
                for name in list(fleets.members):
                    await fleets.kill(name)
                tasks.cancel_scope.cancel()

    async def start(self, name: str, **more: float) -> Member:
        """A process under this name in the group; it joins in its own time. `more`: of its order."""
        order = msgspec.structs.replace(self._order, instance=f"{self.name}-{name}", **more)
        words = [sys.executable, "-m", "tests.service.fleet_driver", msgspec.json.encode(order).decode()]
        process = await anyio.open_process(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None)
        member = self.members[name] = Member(process)
        self._tasks.start_soon(member.listen)
        return member

    async def kill(self, name: str) -> None:
        """With SIGKILL, which needs no help from the process."""
        member = self.members.pop(name)
        if member.process.returncode is None:
            member.process.kill()
        await member.process.wait()
        with anyio.CancelScope(shield=True):
            await member.process.aclose()

    async def stop(self, name: str) -> int:
        """In order; its exit code."""
        member = self.members.pop(name)
        member.process.terminate()
        with anyio.fail_after(LIMIT_SECONDS):
            code = await member.process.wait()
        await member.process.aclose()
        return code

    def pause(self, name: str, paused: bool) -> None:
        member = self.members[name]
        member.paused = paused
        member.process.send_signal(signal.SIGSTOP if paused else signal.SIGCONT)

    async def submit(self, numbers: Iterable[int], inputs_uri: str = "") -> list[ExecutionId]:
        """Chains, or where there are inputs maps."""
        entity = workflow_id(MAP if inputs_uri else CHAIN)
        ids = [ExecutionId("p", "d", f"e{number}") for number in numbers]
        events = [ExecutionSubmitted(each, entity, "digest", inputs_uri=inputs_uri, run="r") for each in ids]
        await self._appender.send([event_message(event, self.clients.options) for event in events], _nothing).wait()
        return ids

    async def until_ended(self, count: int) -> None:
        with anyio.move_on_after(LIMIT_SECONDS):
            while len(self.ended) < count:
                await self._more.wait()
        if len(self.ended) < count:
            raise AssertionError(f"{len(self.ended)} of {count} have ended; {(await self.evidence()).unfinished()}")

    async def until_live(self, count: int) -> None:
        """So many executions have a node whose task runs."""
        with anyio.fail_after(LIMIT_SECONDS):
            while len(self.running) < count:
                await self._more.wait()

    async def until_claimed_by(self, owners: int) -> None:
        """Every partition has had so many owners."""
        with anyio.fail_after(LIMIT_SECONDS):
            while min((await self.evidence()).owners(), default=0) < owners:
                await self._more.wait()

    async def _follow(self, *, task_status: TaskStatus[None]) -> None:
        options = self.clients.options
        async with self.clients.consumer() as consumer:
            where = [TopicPartition(options.topic(Topic.HISTORY), number) for number in range(options.partitions)]
            consumer.assign(where)
            await consumer.seek_to_beginning(*where)
            task_status.started()
            while True:
                try:
                    found = await consumer.getmany(timeout_ms=100)
                except faults.CLIENT_ERRORS:
                    continue  # the broker is hurt
                for records in found.values():
                    for record in records:
                        self._see(codec.unpack_fact(record.value or b""))
                self._more.set()
                self._more = anyio.Event()

    def _see(self, fact: Fact) -> None:
        if fact.path and fact.phase == "RUNNING":
            self.running.add(fact.execution)
        if not fact.path and fact.phase in ENDED:
            self.ended[fact.execution] = fact.phase

    async def evidence(self) -> Evidence:
        """Everything that the topics hold."""
        return await gather(self.clients)


def _nothing() -> None:
    """The failure is raised to whoever waits."""
