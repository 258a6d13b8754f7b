"""The API of a process whose journal is behind: another process works on what it accepts."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from msgspec import structs

from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.log import MemoryLog
from engine.gateway import accepted, known
from engine.gateway.accepted import AcceptedHere
from engine.gateway.api import Api
from engine.gateway.guard import Guard
from engine.loop.watchers import Watchers
from engine.model.errors import ErrorKind, Failure
from engine.model.events import AbortRequested, Event, ExecutionSubmitted
from engine.model.ids import ExecutionId
from engine.model.phases import ExecutionPhase
from engine.model.state import REJECTED, Execution, Fact
from engine.ports.eventlog import Changes
from tests.contract.log_nouns import execution, named

SOURCE = execution("a", ExecutionPhase.FAILED)
ROOT = "/api/v1/executions"


class FarAway:
    """A Service that sends what it takes to somebody else."""

    delay_seconds: float | None = 0.0

    def __init__(self) -> None:
        self.journal, self.watchers, self.blobs = MemoryLog(), Watchers(), MemoryBlobs()
        self.accepted: list[ExecutionSubmitted] = []
        self.sent: list[Event] = []

    async def accept(self, asked: ExecutionSubmitted, inputs: bytes) -> None:
        self.accepted.append(asked)

    async def send(self, events: Sequence[Event]) -> None:
        self.sent += events

    async def signal(self, execution: ExecutionId, signal_id: str, value: bytes) -> None: ...

    def waits(self, execution: ExecutionId) -> dict[str, str]:
        return {}

    async def hear(self, record: Execution, *facts: Fact) -> None:
        """Somebody has worked on it, and that arrives here."""
        await self.journal.commit((), Changes([record], facts=facts))
        self.watchers.tell([record], facts)


@asynccontextmanager
async def calling(
    service: FarAway, monkeypatch: pytest.MonkeyPatch, patience: float = 10.0
) -> AsyncIterator[TestClient[web.Request, web.Application]]:
    monkeypatch.setattr(known, "PATIENCE_SECONDS", 0.0)
    await service.journal.commit((), Changes([SOURCE]))
    app = web.Application(middlewares=[Guard("", "127.0.0.1").watch])
    for one in Api(lambda: service, Path("/home"), ("p", "d"), 1000, patience).operations():
        app.router.add_route(one.method, one.path, one.handler)
    async with TestClient(TestServer(app)) as client:
        yield client


async def test_it_is_found_here_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    service = FarAway()
    async with calling(service, monkeypatch) as client:
        answered = await client.post(f"{ROOT}/p/d/a/relaunch", json={"name": "b"})
        assert (answered.status, [event.execution for event in service.accepted]) == (201, [named("b")])
        document = await (await client.get(f"{ROOT}/p/d/b")).json()
        assert (document["phase"], document["nodes"], document["waiting"]) == ("READY", [], [])
        assert (await client.post(f"{ROOT}/p/d/b/abort", json={"reason": "no"})).status == 202
        assert service.sent == [AbortRequested(named("b"), "no")]
        assert (await client.get(f"{ROOT}/p/d/c")).status == 404


async def test_what_can_be_read_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    service = FarAway()
    async with calling(service, monkeypatch) as client:
        await client.post(f"{ROOT}/p/d/a/relaunch", json={"name": "b"})
        await service.hear(execution("b", ExecutionPhase.SUCCEEDED))
        assert (await (await client.get(f"{ROOT}/p/d/b")).json())["phase"] == "SUCCEEDED"
        service.journal = MemoryLog()  # it is forgotten, much later
        assert (await client.get(f"{ROOT}/p/d/b")).status == 404


async def test_a_stream_begins_before_there_is_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    service = FarAway()
    async with calling(service, monkeypatch) as client:
        await client.post(f"{ROOT}/p/d/a/relaunch", json={"name": "b"})
        async with client.get(f"{ROOT}/p/d/b/events") as stream:
            facts = [Fact(named("b"), number, 1.0, "RUNNING") for number in range(1, 1301)]
            ended = structs.replace(execution("b", ExecutionPhase.SUCCEEDED), sequence=1300)
            # The state may be there before the last facts are.
            await service.hear(ended, *facts[:1000])
            await service.hear(ended, *facts[1000:])
            lines = [line async for line in stream.content if line.startswith(b"data: ")]
    assert [json.loads(line.removeprefix(b"data: "))["sequence"] for line in lines] == list(range(1, 1301))


async def test_what_another_process_has_just_accepted_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    service = FarAway()
    async with calling(service, monkeypatch) as client, anyio.create_task_group() as tasks:
        service.delay_seconds = 30.0
        waiting = anyio.Event()
        find = service.journal.find

        async def found(ids: Sequence[ExecutionId]) -> dict[ExecutionId, Execution]:
            waiting.set()
            return await find(ids)

        monkeypatch.setattr(service.journal, "find", found)

        async def another_process() -> None:
            await waiting.wait()
            await service.hear(execution("c"))

        tasks.start_soon(another_process)
        assert (await client.get(f"{ROOT}/p/d/c")).status == 200
        service.delay_seconds = 0.01
        assert (await client.get(f"{ROOT}/p/d/nobody")).status == 404


async def test_what_was_rejected_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    service = FarAway()
    failure = Failure("BadInput", ErrorKind.USER, "input 'n' is missing")
    async with calling(service, monkeypatch) as client:
        await client.post(f"{ROOT}/p/d/a/relaunch", json={"name": "b"})
        facts = {named("b"): [Fact(named("b"), 0, time.time() + 1.0, REJECTED, error=failure)]}
        history = service.journal.history

        async def with_answers(asked: ExecutionId, after: int = 0, limit: int | None = None) -> Sequence[Fact]:
            return facts.get(asked, []) if after < 0 else await history(asked, after, limit)

        monkeypatch.setattr(service.journal, "history", with_answers)
        answered = await client.get(f"{ROOT}/p/d/b")
        assert (answered.status, (await answered.json())["error"]) == (
            404,
            {
                "code": "BadInput",
                "kind": "USER",
                "cause": "there is no execution p:d:b: what was asked for it was rejected: input 'n' is missing",
            },
        )
        await service.hear(execution("b"))  # the name was asked for again, and rightly
        assert (await client.get(f"{ROOT}/p/d/b")).status == 200


def test_what_never_comes_is_let_go() -> None:
    now = 0.0
    kept = AcceptedHere(lambda: now)
    kept.enter(ExecutionSubmitted(named("a"), SOURCE.entity, "digest"), "", 1.0)
    now = accepted.KEEP_SECONDS / 2
    kept.enter(ExecutionSubmitted(named("b"), SOURCE.entity, "digest"), "mem://in", 2.0)
    found = kept.get(named("b"))
    assert found is not None
    assert (found.phase, found.inputs_uri, found.submitted_at) == (ExecutionPhase.READY, "mem://in", 2.0)
    now = accepted.KEEP_SECONDS
    assert (kept.get(named("a")), kept.get(named("b"))) == (None, found)


async def test_a_log_that_does_not_answer_is_said_and_the_request_may_be_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    service = FarAway()

    async def never(*_: object) -> None:
        await anyio.sleep_forever()

    async with calling(service, monkeypatch, patience=0.01) as client:
        monkeypatch.setattr(service, "accept", never)
        answer = await client.post(f"{ROOT}/p/d/a/relaunch", json={"name": "late"})
        assert answer.status == 503
        error = (await answer.json())["error"]
    assert (error["code"], error["kind"]) == ("LogUnavailable", "SYSTEM")
    assert error["cause"].startswith("execution p:d:late: the log has not answered within 0.01 s")
    assert error["cause"].endswith("asking again under the same name is harmless")
