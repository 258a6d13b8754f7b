"""SIGKILL of the engine at each of its crash hooks while pods run: none is deleted, none is made twice, all finish."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from tests.backing.kubernetes.specs import Script
from tests.clusters import Pods, Space, phases, space
from tests.service.crashes import CRASHING, Driver, Harness, Workload, driver, packaged
from tests.service.workloads import mapped, nested

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("kubernetes"), pytest.mark.service("fork")]
HOOKS = ("before_commit", "after_commit", "before_launch", "after_launch")
PODS = 20
Make = Callable[..., Awaitable["Trial"]]


@pytest.fixture(scope="module")
def engines() -> Iterator[Driver]:
    with driver() as one:
        yield one


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packaged(CRASHING, tmp_path_factory.mktemp("package"))


@dataclass
class Trial:
    at: Space
    run: Harness
    since: str
    pipe: Path

    async def kill_once(self, ready: Callable[[Pods], bool]) -> None:
        """An engine that is killed when the pods are as wanted."""
        async with anyio.create_task_group() as group:
            group.start_soon(to_thread.run_sync, partial(self.run.life, pipe=self.pipe))
            await self.at.until(ready)
            await to_thread.run_sync(self.pipe.write_text, "now")
        assert self.run.figures.kills == 1

    async def finish(self, pods: int, retried: int = 0) -> None:
        """All executions end well with so many pods: none was made twice, and deleted only where another try began."""
        figures = await to_thread.run_sync(self.run.finish)
        seen = await self.at.history(self.since)
        assert (len(seen.made), seen.twice, len(seen.deleted), figures.repeated) == (pods, [], retried, 0)


@pytest.fixture
async def trial(engines: Driver, package: Path, tmp_path: Path) -> AsyncIterator[Make]:
    async with space() as at:

        async def make(workload: Workload, *scripts: Script) -> Trial:
            pipe, marks = tmp_path / "pipe", tmp_path / "run" / "marks"
            os.mkfifo(pipe)
            settings = at.settings(*scripts, env={"CRASH_MARKS": str(marks)})
            run = Harness(engines, package, workload, tmp_path / "run", settings)
            return Trial(at, run, await at.version(), pipe)

        yield make


@pytest.mark.parametrize("place", HOOKS)
async def test_killed_at_a_hook_again_and_again(trial: Make, place: str) -> None:
    one = await trial(mapped(PODS), Script(runs_seconds=0.3, copies=True))
    lives = [partial(one.run.life, place=place, count=count) for count in (1, 12)]
    kills = [(await to_thread.run_sync(life)).status for life in lives]
    assert kills[0] == -9
    await one.finish(PODS)


async def test_killed_while_all_run(trial: Make) -> None:
    one = await trial(mapped(PODS), Script(runs_seconds=4, copies=True))
    await one.kill_once(lambda pods: [*phases(pods).values()].count("Running") == PODS)
    await one.finish(PODS)


async def test_real_tasks_go_on(trial: Make) -> None:
    """A launch plan in a sub-workflow, with a map in the child: flytekit runs in the pods."""
    one = await trial(nested(3, scripted=False))
    await one.kill_once(lambda pods: "Running" in phases(pods).values())
    await one.finish(3 + 1 + 1 + 1 + 1, retried=1)
