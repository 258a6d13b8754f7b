"""User case S34: a scrape has as many series after 10,000 executions as after 100, whatever they are called."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import anyio
import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from engine.adapters.memory.scripts import copies, hangs, raises
from engine.app import Engine
from engine.gateway.metrics import Metrics
from engine.loop.residents import Residents
from engine.machine import step
from engine.model.errors import ErrorKind, Failure
from engine.model.events import AttemptFailed, AttemptStarted, AttemptSucceeded, Event, ExecutionSubmitted
from engine.model.graph import Program
from engine.model.ids import ExecutionId
from engine.ports.eventlog import Record
from engine.ports.taskrunner import Exit, TaskRequest
from tests.flow.engines import World
from tests.programs import constant, graph, node, program, task, workflow_id
from tests.simulation import RULES

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(60)]

KINDS, FEW = 50, 100
ALLOWED = {
    "architecture", "cause", "direction", "effect", "event", "kind", "le", "operation", "outcome", "partition", "phase",
    "state", "version",
}  # fmt: skip
"""Each has few values, known beforehand; of a partition as many as the operator has made."""
Labels = tuple[tuple[str, str], ...]


def fifty() -> Program:
    works = [task(f"work{k}") for k in range(KINDS)]
    nodes = [node("n0", work.id, bindings=[constant("a", k)], retries=1) for k, work in enumerate(works)]
    return program([graph(f"wf{k}", [one]) for k, one in enumerate(nodes)], works)


PROGRAM = fifty()


def submission(number: int) -> ExecutionSubmitted:
    return ExecutionSubmitted(named(number), workflow_id(f"wf{number % KINDS}"), PROGRAM.digest)


def named(number: int) -> ExecutionId:
    return ExecutionId("p", "d", f"crowd-{number}")


def number_of(execution: ExecutionId) -> int:
    return int(execution.name.rpartition("-")[2])


def text_of(number: int) -> str:
    """Of an error: another one for each execution."""
    return hashlib.sha256(str(number).encode()).hexdigest()


def scraped(metrics: Metrics) -> str:
    return generate_latest(metrics.registry).decode()


def series(text: str) -> dict[tuple[str, Labels], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def check(few: str, many: str) -> None:
    """The same series; no label but the known ones, and nothing that a person named."""
    assert series(many).keys() == series(few).keys()
    used = {name for _, labels in series(many) for name, _ in labels}
    assert used <= ALLOWED
    for hidden in ("crowd", "wf7", "work", "n0", "Error", text_of(0), text_of(8)):
        assert hidden not in many


def value(text: str, metric: str, **labels: str) -> float:
    return series(text)[f"propwash_{metric}", tuple(sorted(labels.items()))]


class Crowd:
    """Executions of fifty workflows on one engine: some succeed, some are tried again, some fail."""

    def __init__(self) -> None:
        self.world = World(PROGRAM)
        self.world.meter = self.metrics = Metrics()
        self.world.runner.script = self._play
        self._copies = copies(self.world.blobs)
        self.hanging = False

    async def run(self, engine: Engine, numbers: range) -> None:
        await self.submit(engine, numbers)
        for number in numbers:
            await engine.wait(named(number))

    async def submit(self, engine: Engine, numbers: range) -> None:
        for number in numbers:
            await engine.accept(submission(number), b"")

    async def _play(self, request: TaskRequest) -> Exit:
        if self.hanging:
            return await hangs(request)
        number = number_of(request.key.execution)
        fails = number % 4 == 0 or (number % 4 == 1 and request.key.attempt == 0)
        script = raises(self.world.blobs, text_of(number), recoverable=True) if fails else self._copies
        played = script(request)
        return played if isinstance(played, Exit) else await played


async def test_after_a_thousand_on_an_engine() -> None:
    crowd = Crowd()
    async with crowd.world.engine() as engine:
        await crowd.run(engine, range(FEW))
        few = scraped(crowd.metrics)
        await crowd.run(engine, range(FEW, 1000))
        many = scraped(crowd.metrics)
    check(few, many)
    assert value(many, "execution_transitions_total", phase="SUCCEEDED") == 750
    assert value(many, "execution_transitions_total", phase="FAILED") == 250
    assert value(many, "retries_total", cause="user") == 500


async def test_while_a_thousand_are_unfinished() -> None:
    crowd = Crowd()
    crowd.hanging = True
    async with crowd.world.engine() as engine:
        await crowd.submit(engine, range(10))
        await anyio.sleep(1)
        few = scraped(crowd.metrics)
        await crowd.submit(engine, range(10, 1000))
        await anyio.sleep(1)
        many = scraped(crowd.metrics)
    check(few, many)
    assert value(few, "tasks", state="running") == 10
    assert value(many, "tasks", state="running") == 1000


class Told:
    """What the loop tells of executions, without the loop: the machine decides, nothing is done."""

    def __init__(self) -> None:
        self.metrics, self._residents = Metrics(), Residents(self._load)
        self.metrics.attend(self._residents)

    async def run(self, numbers: range) -> None:
        await self._residents.program(PROGRAM.digest)
        for number in numbers:
            self._run(number)

    def _run(self, number: int) -> None:
        event = submission(number)
        state = step.submitted(event, PROGRAM)
        self._residents.add(state)
        key = state.record.key("n0", 0)
        failure = Failure(f"USER:Error{text_of(number)}", ErrorKind.USER, text_of(number))
        end: Event = AttemptSucceeded(key) if number % 2 else AttemptFailed(key, failure)
        for each in (event, AttemptStarted(key), end):
            turn = self.metrics.turning()
            done = step.apply(state, each, 1000.0 + number, RULES)
            state.absorb(done)
            self.metrics.see([state.record], done.facts)
            self.metrics.turned(turn, [Record(number, each)], 0, 0, 0.001)
            for effect in done.effects:
                self.metrics.performed(effect, "done" if number % 2 else "failed", 0.001)
        if state.record.terminal:
            self._residents.drop(state.record.id)

    async def _load(self, digest: str) -> Program:
        return PROGRAM


async def test_after_ten_thousand() -> None:
    told = Told()
    await told.run(range(FEW))
    few = scraped(told.metrics)
    await told.run(range(FEW, 10_000))
    many = scraped(told.metrics)
    check(few, many)
    assert value(many, "node_transitions_total", kind="task", phase="FAILED") == 5000
    assert value(many, "execution_transitions_total", phase="FAILED") == 5000
    assert value(many, "execution_transitions_total", phase="RUNNING") == 10_000


def kept(metrics: Metrics) -> Mapping[str, tuple[str, ...]]:
    """The label names of every metric that was registered, with samples or without."""
    collectors = metrics.registry._collector_to_names
    return {names[0]: tuple(getattr(one, "_labelnames", ())) for one, names in collectors.items() if names}


def test_no_metric_that_is_registered_has_another_label() -> None:
    metrics = Metrics()
    metrics.runner(World(PROGRAM).runner)
    found = {label for labels in kept(metrics).values() for label in labels}
    assert found == ALLOWED - {"le", "state", "partition"}  # those of gauges that are made at a scrape
