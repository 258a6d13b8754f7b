"""Engines whose tasks are pods, killed or troubled: the crash harness on the cluster of the run, behind the proxy."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import anyio
import pytest
from anyio import to_thread

from tests.backing.kubernetes.faulty import Faulty, faulty
from tests.backing.kubernetes.specs import Script
from tests.clusters import History, Pods, Space, engine_context, phases, space
from tests.service.crashes import CRASHING, Driver, Harness, Workload, driver, packaged

SECONDS = 90.0
"""The longest that a trial waits for its pods."""


@dataclass
class Trial:
    at: Space
    proxy: Faulty
    run: Harness
    pipe: Path
    seen: History
    following: asyncio.Task[None]

    async def kill_once(self, ready: Callable[[Pods], bool]) -> None:
        """An engine that is killed when the pods are as wanted."""
        async with anyio.create_task_group() as group:
            group.start_soon(to_thread.run_sync, partial(self.run.life, pipe=self.pipe))
            await self.at.until(ready, SECONDS)
            await to_thread.run_sync(self.pipe.write_text, "now")
        assert self.run.figures.kills == 1

    async def kill_at(self, place: str, *counts: int) -> None:
        """One engine after the other, each killed when it comes to a place for the so manieth time."""
        kills = [await to_thread.run_sync(partial(self.run.life, place=place, count=count)) for count in counts]
        assert kills[0].status == -9

    async def finish(self, pods: int, deleted: int = 0) -> None:
        """All executions end well with so many pods: none was made twice, and so many went before their time."""
        figures = await to_thread.run_sync(self.run.finish)
        await self.at.mark_end()
        with anyio.fail_after(SECONDS):
            await self.following
        seen = self.seen
        assert (len(seen.made), seen.twice, len(seen.deleted), figures.repeated) == (pods, [], deleted, 0)


class Make(Protocol):
    def __call__(self, workload: Workload, *scripts: Script, **settings: object) -> Awaitable[Trial]: ...


@asynccontextmanager
async def trials(engines: Driver, package: Path, folder: Path) -> AsyncIterator[Make]:
    """One trial, in a namespace of its own. `scripts`: played in place of the tasks, one for each attempt."""
    async with (
        space() as at,
        faulty(at.kubeconfig, folder, engine_context(at)) as (proxy, config),
        AsyncExitStack() as stack,
    ):

        async def make(workload: Workload, *scripts: Script, **settings: object) -> Trial:
            pipe, marks = folder / "pipe", folder / "run" / "marks"
            os.mkfifo(pipe)
            more = {"kubernetes.kubeconfig": str(config), "kubernetes.context": "null"}
            more |= {name.replace("__", "."): json.dumps(value) for name, value in settings.items()}
            given = at.settings(*scripts, env={"CRASH_MARKS": str(marks)}, more=more)
            run = Harness(engines, package, workload, folder / "run", given)
            seen = History()
            following = asyncio.create_task(seen.follow(at, await at.version()))
            stack.push_async_callback(_ended, following)
            return Trial(at, proxy, run, pipe, seen, following)

        yield make


async def _ended(task: asyncio.Task[None]) -> None:
    """A trial that failed has not waited for it."""
    task.cancel()
    await asyncio.wait([task])


def all_run(count: int) -> Callable[[Pods], bool]:
    return lambda pods: [*phases(pods).values()].count("Running") == count


@pytest.fixture(scope="module")
def engines() -> Iterator[Driver]:
    with driver() as one:
        yield one


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packaged(CRASHING, tmp_path_factory.mktemp("package"))


@pytest.fixture
async def trial(engines: Driver, package: Path, tmp_path: Path) -> AsyncIterator[Make]:
    async with trials(engines, package, tmp_path) as make:
        yield make
