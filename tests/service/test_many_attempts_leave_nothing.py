from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from engine.adapters.processes.runner import LocalRunner
from engine.ports.taskrunner import TaskRequest
from tests.leftovers import command
from tests.service.tasks import Bench, nothing

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("fork")]
ATTEMPTS = 200


def zygotes() -> list[int]:
    threads = Path("/proc/self/task").glob("*/children")
    return [int(pid) for thread in threads for pid in thread.read_text().split() if "zygote.py" in command(int(pid))]


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def children(pid: int) -> str:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text()


async def test_200_attempts(tmp_path: Path) -> None:
    """No descriptor, zombie or folder more than after the first two attempts, in the engine and in its zygotes."""
    bench = Bench(tmp_path)
    codes: list[int] = []

    async def run(request: TaskRequest) -> None:
        codes.append((await runner.run(request, nothing)).code)

    async with LocalRunner(tmp_path / "work", max_concurrent=4) as runner:
        await run(bench.task("add", {"a": 1}, node="n"))
        await run(bench.shell("exit 0", node="m"))
        pids = zygotes()
        before = [descriptors(pid) for pid in (os.getpid(), *pids)]
        async with anyio.create_task_group() as tasks:
            for number in range(ATTEMPTS // 4):
                tasks.start_soon(run, bench.task("add", {"a": number}, node=f"n{number}"))
            for number in range(ATTEMPTS * 3 // 4):
                tasks.start_soon(run, bench.shell("sleep 1000 & exit 0", node=f"m{number}"))
        assert [descriptors(pid) for pid in (os.getpid(), *pids)] == before
        assert [children(pid) for pid in pids] == ["", ""]
        left = sorted(path.name for path in (tmp_path / "work" / "running").iterdir())
        assert left == ["zygote-1", "zygote-2"]
    assert codes == [0] * (ATTEMPTS + 2)
    assert bench.outputs("n49") == 51
    assert list((tmp_path / "work").iterdir()) == []
