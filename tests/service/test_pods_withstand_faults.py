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


class Command:
    """The command, with settings in a file; its pods are played: they copy their inputs."""

    def __init__(self, at: Space, folder: Path, **script: object) -> None:
        self.propwash = Propwash(folder)
        played = json.dumps({"copies": True, **script})
        settings = {
            "tasks": {"runner": "kubernetes"},
            "kubernetes": {"kubeconfig": str(at.kubeconfig), "namespace": at.name, "context": engine_context(at)},
            "pods": {"shared_folders": True, "env": {"PROPWASH_TEST_SCRIPT": played}, "keep_succeeded": 600.0},
        }
        (folder / "settings.yaml").write_text(yaml.safe_dump(settings))
        self.options = ("--config", "settings.yaml", "--home", str(self.propwash.home), "--json")

    def mapped(self, size: int) -> tuple[str, ...]:
        """To run a map over so many numbers."""
        return ("run", *self.options, str(WORKFLOWS / "mapping.py"), "plain", "--ns", json.dumps([*range(size)]))


def running(count: int) -> Callable[[Pods], bool]:
    return lambda pods: list(phases(pods).values()).count("Running") == count


def uids(pods: Pods) -> dict[str, str]:
    return {name: pod["metadata"]["uid"] for name, pod in pods.items()}


async def test_a_killed_engine_leaves_its_pods_to_the_next(tmp_path: Path) -> None:
    """Twenty pods run when the engine is killed: none is deleted, none is made twice, and all count."""
    async with space() as at:
        command = Command(at, tmp_path, runs_seconds=15)
        with command.propwash.started(*command.mapped(20)) as engine:
            before = await at.until(running(20))
            engine.kill()
        done = await to_thread.run_sync(lambda: command.propwash("resume", *command.options))
        assert done.code == 0, done.err
        assert uids(await at.pods()) == uids(before)
        assert '"SUCCEEDED"' in done.out


async def test_a_pod_that_somebody_deletes_is_followed_by_the_next_attempt(tmp_path: Path) -> None:
    async with space() as at:
        command = Command(at, tmp_path, runs_seconds=6)
        with command.propwash.started(*command.mapped(4)) as engine:
            before = await at.until(running(4))
            gone = min(before)
            await at.delete(gone, 0)
            out, err = await to_thread.run_sync(engine.communicate)
        document = json.loads(out)
        assert (document["phase"], document["outputs"]) == ("SUCCEEDED", {"o0": [0, 1, 2, 3]}), err
        after = uids(await at.pods())
        assert gone not in after
        assert len(after) == 4
        assert len(after.keys() - before.keys()) == 1


async def test_an_aborted_execution_leaves_no_pod(tmp_path: Path) -> None:
    async with space() as at:
        command = Command(at, tmp_path, runs_seconds=None)
        with command.propwash.started(*command.mapped(4)) as engine:
            pods = await at.until(running(4))
            name = next(iter(pods.values()))["metadata"]["labels"]["execution-id"]
            home = str(command.propwash.home)
            aborted = await to_thread.run_sync(lambda: command.propwash("abort", name, "--home", home))
            assert aborted.code == 0, aborted.err
            assert await at.pods() == {}
            out, _ = await to_thread.run_sync(engine.communicate)
        assert json.loads(out)["phase"] == "ABORTED"
