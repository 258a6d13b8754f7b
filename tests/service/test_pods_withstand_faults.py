"""A real API server behind a proxy of faults: it goes away, its watches are cut, its pods are deleted, engines die."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
import yaml
from anyio import to_thread

from engine.adapters.kubernetes.options import ClusterOptions, PodOptions
from engine.adapters.kubernetes.runner import PodRunner
from engine.adapters.memory.blobs import MemoryBlobs
from engine.model.errors import Permanent
from engine.model.ids import AttemptKey
from engine.model.podneeds import PodNeeds
from engine.ports.taskrunner import Exit, ExitReason
from tests.backing.kubernetes import faulty as faults
from tests.backing.kubernetes.specs import SCRIPT, Script
from tests.clusters import Pods, Space, ended, engine_context, phases, space
from tests.podworld import key, request
from tests.service.command import WORKFLOWS, Propwash

pytestmark = pytest.mark.service("kubernetes")


class Run:
    """Attempts through a proxy, and how they end."""

    def __init__(self, at: Space, proxy: faults.Faulty, config: Path) -> None:
        self.at, self.proxy, self.config = at, proxy, config
        self.started: list[AttemptKey] = []
        self.ends: dict[AttemptKey, Exit | Permanent] = {}
        self._bell = anyio.Event()

    @asynccontextmanager
    async def runner(self) -> AsyncIterator[PodRunner]:
        options = ClusterOptions(kubeconfig=str(self.config), namespace=self.at.name, idle_seconds=10.0)
        quick = json.dumps({"spec": {"terminationGracePeriodSeconds": 1}}).encode()
        async with PodRunner(options, PodOptions(template=quick), put=MemoryBlobs().put) as runner:
            yield runner

    async def attempt(self, runner: PodRunner, at: AttemptKey, script: Script) -> None:
        needs = PodNeeds(annotations={SCRIPT: json.dumps({"runs_seconds": script.runs_seconds, "exit": script.exit})})

        def begin() -> None:
            self.started.append(at)
            self._ring()

        asked = request("true", at=at, needs=needs, image="tests", env={})
        try:
            self.ends[at] = await runner.run(asked, begin)
        except Permanent as problem:
            self.ends[at] = problem
        self._ring()

    def _ring(self) -> None:
        self._bell.set()
        self._bell = anyio.Event()

    async def until(self, holds: Callable[[], bool], seconds: float = 60.0) -> None:
        with anyio.fail_after(seconds):
            while not holds():
                await self._bell.wait()

    def reasons(self) -> set[str]:
        return {it.reason.value if isinstance(it, Exit) else str(it) for it in self.ends.values()}


@pytest.fixture
async def run() -> AsyncIterator[Run]:
    async with space() as at, faults.faulty(at.kubeconfig, at.folder, engine_context(at)) as (proxy, config):
        yield Run(at, proxy, config)


async def test_an_api_server_that_is_away_ends_nothing(run: Run) -> None:
    """Pods end, and others are asked for, while nobody answers."""
    keys = [key(f"n{number}") for number in range(10)]
    late = key("late")
    async with run.runner() as runner, anyio.create_task_group() as tasks:
        for it in keys:
            tasks.start_soon(run.attempt, runner, it, Script(runs_seconds=4))
        await run.until(lambda: len(run.started) == 10)
        await run.proxy.down()
        tasks.start_soon(run.attempt, runner, late, Script())
        await run.at.until(ended)
        assert run.ends == {}
        await run.proxy.up()
        await run.until(lambda: len(run.ends) == 11)
    assert run.reasons() == {"exited"}
    assert sorted(run.started) == sorted([*keys, late])
    assert len(await run.at.pods()) == 11


async def test_watches_that_are_cut_lose_nothing(run: Run) -> None:
    """Every watch breaks in the middle of its fourth line."""
    run.proxy.choose = lambda asked: faults.Cut(3) if asked.watches else None
    keys = [key(f"n{number}") for number in range(30)]
    async with run.runner() as runner, anyio.create_task_group() as tasks:
        for number, it in enumerate(keys):
            tasks.start_soon(run.attempt, runner, it, Script(runs_seconds=number / 10, exit=number % 2))
        await run.until(lambda: len(run.ends) == 30)
    codes = [it.code for _, it in sorted(run.ends.items()) if isinstance(it, Exit)]
    assert sorted(codes) == [0] * 15 + [1] * 15
    assert len(run.started) == 30
    assert len([asked for asked in run.proxy.seen if asked.creates_pod]) == 30


async def test_lost_answers_make_no_second_pod(run: Run) -> None:
    told: set[bytes] = set()

    def lose(asked: faults.Request) -> faults.Fault | None:
        if not asked.creates_pod or asked.body in told:
            return None
        told.add(asked.body)
        return faults.Lost()

    run.proxy.choose = lose
    async with run.runner() as runner, anyio.create_task_group() as tasks:
        for number in range(5):
            tasks.start_soon(run.attempt, runner, key(f"n{number}"), Script(runs_seconds=1))
        await run.until(lambda: len(run.ends) == 5)
    assert run.reasons() == {"exited"}
    assert len(await run.at.pods()) == 5


async def test_pods_that_somebody_deletes_are_all_lost(run: Run) -> None:
    keys = [key(f"n{number}") for number in range(60)]
    async with run.runner() as runner, anyio.create_task_group() as tasks:
        for it in keys:
            tasks.start_soon(run.attempt, runner, it, Script(runs_seconds=None))
        await run.until(lambda: len(run.started) == 60)
        await run.at.api.delete(f"{run.at.path}/pods", gracePeriodSeconds="0")
        await run.until(lambda: len(run.ends) == 60)
    assert run.reasons() == {ExitReason.LOST.value}


async def test_a_killed_engine_leaves_its_pods_to_the_next(tmp_path: Path) -> None:
    """Twenty pods run when the engine is killed: none is deleted, none is made twice, and all count."""
    async with space() as at:
        propwash, script = Propwash(tmp_path), Script(runs_seconds=15, copies=True)
        played = json.dumps({"runs_seconds": script.runs_seconds, "copies": True})
        settings = {
            "tasks": {"runner": "kubernetes"},
            "kubernetes": {"kubeconfig": str(at.kubeconfig), "namespace": at.name, "context": engine_context(at)},
            "pods": {"shared_folders": True, "env": {"PROPWASH_TEST_SCRIPT": played}, "keep_succeeded": 600.0},
        }
        (tmp_path / "settings.yaml").write_text(yaml.safe_dump(settings))
        numbers = [*range(20)]
        words = ("--config", "settings.yaml", "--home", str(propwash.home), "--json")

        def running(pods: Pods) -> bool:
            return list(phases(pods).values()).count("Running") == 20

        with propwash.started(
            "run", *words, str(WORKFLOWS / "mapping.py"), "plain", "--ns", json.dumps(numbers)
        ) as engine:
            before = await at.until(running)
            engine.kill()
        done = await to_thread.run_sync(lambda: propwash("resume", *words))
        assert done.code == 0, done.err
        after = await at.pods()
        assert {name: pod["metadata"]["uid"] for name, pod in after.items()} == {
            name: pod["metadata"]["uid"] for name, pod in before.items()
        }
        assert '"SUCCEEDED"' in done.out
