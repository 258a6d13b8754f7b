"""When an execution fails or is aborted, no pod of it runs on: of nodes, maps and child executions alike."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from tests.backing.kubernetes.faulty import Answer, Faulty, faulty
from tests.clusters import Space, engine_context, phases, space
from tests.service.command import Propwash, played
from tests.service.podtrials import all_run

__all__ = ["played"]
pytestmark = [pytest.mark.service("kubernetes"), pytest.mark.service("flytekit")]
ELEMENTS = "[1, 2, 3, 4, 5, 6]"
BESIDE = 1 + 6 + 1
"""Pods of a task, a map and a child execution."""
QUICK = '{"spec": {"terminationGracePeriodSeconds": 1}}'


class Commands:
    """The command with an engine whose pods are made through the proxy."""

    def __init__(self, at: Space, proxy: Faulty, config: Path, folder: Path, package: str) -> None:
        self.at, self.proxy, self.propwash, self._package = at, proxy, Propwash(folder), package
        more = {"kubernetes.kubeconfig": str(config), "kubernetes.context": "null", "pods.template": QUICK}
        self._sets = [word for each in at.settings(more=more) for word in ("--set", each)]

    async def run(self, workflow: str, *inputs: str) -> int:
        words = self._words(workflow, *inputs)
        return (await to_thread.run_sync(lambda: self.propwash(*words))).code

    def started(self, workflow: str, *inputs: str) -> AbstractContextManager[subprocess.Popen[str]]:
        return self.propwash.started(*self._words(workflow, *inputs))

    def _words(self, workflow: str, *inputs: str) -> list[str]:
        home = str(self.propwash.home)
        return ["run", "--home", home, "--name", "e", *self._sets, self._package, workflow, *inputs]

    async def resume(self) -> int:
        words = ("resume", "--home", str(self.propwash.home), *self._sets)
        return (await to_thread.run_sync(lambda: self.propwash(*words))).code

    async def abort(self) -> int:
        return (await to_thread.run_sync(lambda: self.propwash("abort", "e"))).code

    async def outputs(self) -> object:
        return (await to_thread.run_sync(lambda: self.propwash("get", "e", "--json"))).document["outputs"]


@pytest.fixture
async def commands(tmp_path: Path, played: str) -> AsyncIterator[Commands]:
    async with space() as at, faulty(at.kubeconfig, tmp_path, engine_context(at)) as (proxy, config):
        yield Commands(at, proxy, config, tmp_path, played)


async def test_a_failure_ends_what_runs_beside_it(commands: Commands) -> None:
    since = await commands.at.version()
    assert await commands.run("one_fails", "--n", "1", "--ns", ELEMENTS) == 1
    assert [*phases(await commands.at.pods()).values()] == ["Failed"]
    seen = await commands.at.history(since)
    assert (len(seen.made), seen.twice, len(seen.deleted)) == (1 + BESIDE, [], BESIDE)


async def test_an_abort_leaves_no_pod_though_deletes_fail_at_first(commands: Commands) -> None:
    failures = itertools.count()
    commands.proxy.choose = lambda request: Answer(500) if request.deletes and next(failures) < 4 else None
    async with anyio.create_task_group() as group:
        group.start_soon(commands.run, "all_hang", "--n", "1", "--ns", ELEMENTS)
        await commands.at.until(all_run(BESIDE))
        assert await commands.abort() == 0
        assert await commands.at.pods() == {}
    assert next(failures) > 4


async def test_an_abort_while_pods_are_being_made_leaves_none(commands: Commands) -> None:
    """The replies come late: some pods are there of which the engine has not heard."""
    held = anyio.Event()

    async def hold() -> None:
        await held.wait()

    commands.proxy.before_answer = lambda request: hold() if request.creates_pod else None
    async with anyio.create_task_group() as group:
        group.start_soon(commands.run, "all_hang", "--n", "1", "--ns", ELEMENTS)
        await commands.at.until(all_run(BESIDE))
        async with anyio.create_task_group() as aborting:
            aborting.start_soon(commands.abort)
            held.set()
        assert await commands.at.pods() == {}
