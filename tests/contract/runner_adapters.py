"""The task runners under contract. A test speaks of tasks by what they do; each runner has its own way of doing it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

import pytest

from engine.adapters.memory import scripts
from engine.adapters.memory.runner import NoopRunner
from engine.adapters.processes.runner import LocalRunner
from engine.model.graph import Interface, TaskSpec
from engine.model.ids import AttemptKey, EntityId, EntityKind, ExecutionId
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest, TaskRunner

TASK = TaskSpec(EntityId(EntityKind.TASK, "p", "d", "t", "v"), "python-task", Interface(), b"")

EXITS_0, EXITS_3 = ("sh", "-c", "exit 0"), ("sh", "-c", "exit 3")
IS_KILLED = ("sh", "-c", "kill -9 $$")
HANGS = ("sh", "-c", "while :; do sleep 3600; done")
IS_NO_PROGRAM = ("no-such-program",)


def key(node: str, attempt: int = 0) -> AttemptKey:
    return AttemptKey(ExecutionId("p", "d", "e"), node, attempt)


class RunnerWorld(Protocol):
    def runner(self, *, slots: int = 4) -> AbstractAsyncContextManager[TaskRunner]: ...

    def request(self, what: tuple[str, ...], node: str = "n0", timeout_seconds: float | None = None) -> TaskRequest: ...


class _World:
    prefix = "memory://store/a"

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


@pytest.fixture(params=["memory", pytest.param("processes", marks=pytest.mark.service("fork"))])
def runner_world(request: pytest.FixtureRequest, tmp_path: Path) -> RunnerWorld:
    return MemoryWorld() if request.param == "memory" else ProcessWorld(tmp_path)
