"""The task runners under contract. A test speaks of tasks by what they do; each runner has its own way of doing it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from msgspec import structs

from engine.adapters.kubernetes.options import ClusterOptions, PodOptions
from engine.adapters.kubernetes.runner import PodRunner
from engine.adapters.memory import scripts
from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.runner import NoopRunner
from engine.adapters.processes.runner import LocalRunner
from engine.model.graph import Interface, TaskSpec
from engine.model.ids import AttemptKey, EntityId, EntityKind, ExecutionId
from engine.model.podneeds import PodNeeds
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest, TaskRunner
from tests.clusters import engine_context, space
from tests.fakeapi import FakeApi
from tests.podworld import RUNNING, terminated

TASK = TaskSpec(EntityId(EntityKind.TASK, "p", "d", "t", "v"), "python-task", Interface(), b"")

EXITS_0, EXITS_3 = ("sh", "-c", "exit 0"), ("sh", "-c", "exit 3")
IS_KILLED = ("sh", "-c", "kill -9 $$")
HANGS = ("sh", "-c", "while :; do sleep 3600; done")
IS_NO_PROGRAM = ("no-such-program",)


def key(node: str, attempt: int = 0) -> AttemptKey:
    return AttemptKey(ExecutionId("p", "d", "e"), node, attempt)


class RunnerWorld(Protocol):
    outlives: bool
    """What runs goes on when the call that watches it is cancelled."""

    def runner(self, *, slots: int = 4) -> AbstractAsyncContextManager[TaskRunner]: ...

    def request(self, what: tuple[str, ...], node: str = "n0", timeout_seconds: float | None = None) -> TaskRequest: ...


class _World:
    prefix = "memory://store/a"
    outlives = False

    def request(self, what: tuple[str, ...], node: str = "n0", timeout_seconds: float | None = None) -> TaskRequest:
        return TaskRequest(key(node), TASK, what, {}, f"{self.prefix}/{node}/0", timeout_seconds)


class MemoryWorld(_World):
    @asynccontextmanager
    async def runner(self, *, slots: int = 4) -> AsyncIterator[TaskRunner]:
        plays = {
            EXITS_0: scripts.exits(0),
            EXITS_3: scripts.exits(3),
            IS_KILLED: scripts.ends(Exit(ExitReason.SIGNALLED, 9)),
            HANGS: scripts.hangs,
            IS_NO_PROGRAM: scripts.ends(Exit(ExitReason.REFUSED, 2, "no 'no-such-program'")),
        }
        script = scripts.takes(0, lambda request: plays[request.argv](request))
        yield NoopRunner(lambda r: plays[r.argv](r) if r.argv == IS_NO_PROGRAM else script(r), max_concurrent=slots)


class ProcessWorld(_World):
    def __init__(self, folder: Path) -> None:
        self.folder, self.prefix = folder, f"file://{folder}/store"

    @asynccontextmanager
    async def runner(self, *, slots: int = 4) -> AsyncIterator[TaskRunner]:
        async with LocalRunner(self.folder / "work", max_concurrent=slots) as runner:
            yield runner


class FakeClusterWorld(_World):
    """Pods of an API server that is a part of the test; a function is its kubelet."""

    outlives = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @asynccontextmanager
    async def runner(self, *, slots: int = 4) -> AsyncIterator[TaskRunner]:
        async with FakeApi.serving(self.folder) as (api, kubeconfig):
            api.kubelet = lambda pod: self._play(api, pod)
            async with PodRunner(
                ClusterOptions(kubeconfig=kubeconfig), PodOptions(), put=MemoryBlobs().put, max_pods=slots
            ) as runner:
                yield runner

    def _play(self, api: FakeApi, pod: dict[str, Any]) -> None:
        name, argv = pod["metadata"]["name"], tuple(pod["spec"]["containers"][0]["args"])
        if argv == IS_NO_PROGRAM:
            api.status(name, "Failed", terminated(128, "StartError", "exec: 'no-such-program': no such file"))
            return
        api.status(name, "Running", RUNNING)
        ends = {EXITS_0: terminated(0, "Completed"), EXITS_3: terminated(3), IS_KILLED: terminated(137)}
        if argv in ends:
            api.status(name, "Succeeded" if argv == EXITS_0 else "Failed", ends[argv])


class ClusterWorld(_World):
    """Pods of a real API server, bound by a real scheduler, run by the kubelet of the tests as local processes."""

    outlives = True

    @asynccontextmanager
    async def runner(self, *, slots: int = 4) -> AsyncIterator[TaskRunner]:
        quick = json.dumps({"spec": {"terminationGracePeriodSeconds": 1}}).encode()
        async with space() as at:
            cluster = ClusterOptions(kubeconfig=str(at.kubeconfig), context=engine_context(at), namespace=at.name)
            pods = PodOptions(template=quick)
            async with PodRunner(cluster, pods, put=MemoryBlobs().put, max_pods=slots) as runner:
                yield runner

    def request(self, what: tuple[str, ...], node: str = "n0", timeout_seconds: float | None = None) -> TaskRequest:
        # Kubernetes takes $$ in a command for an escaped $.
        asked = super().request(tuple(word.replace("$$", "$$$$") for word in what), node, timeout_seconds)
        return structs.replace(asked, image="tests", pod=PodNeeds(command_words=1))


@pytest.fixture(
    params=[
        "memory",
        "fake cluster",
        pytest.param("processes", marks=pytest.mark.service("fork")),
        pytest.param("cluster", marks=pytest.mark.service("kubernetes")),
    ]
)
def runner_world(request: pytest.FixtureRequest, tmp_path: Path) -> RunnerWorld:
    match request.param:
        case "memory":
            return MemoryWorld()
        case "fake cluster":
            return FakeClusterWorld(tmp_path)
        case "cluster":
            return ClusterWorld()
    return ProcessWorld(tmp_path)
