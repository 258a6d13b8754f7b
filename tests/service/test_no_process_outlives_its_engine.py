from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from engine.adapters.processes.runner import LocalRunner
from engine.adapters.processes.sweep import _is_dying
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest
from tests.leftovers import command
from tests.service.lifeline import Lifeline, lifeline
from tests.service.tasks import Bench, nothing

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("fork")]
EVERYONE = ("task", "shell", "child", "daemon")


@asynccontextmanager
async def engine(folder: Path) -> AsyncIterator[tuple[Lifeline, int]]:
    """An engine in a process of its own, with tasks that hang."""
    async with lifeline(folder) as line:
        words = [sys.executable, "-m", "tests.service.runner_driver", "hang", str(folder)]
        async with await anyio.open_process(words, stdout=None, stderr=None) as process:
            await line.says(*EVERYONE)
            try:
                yield line, process.pid
            finally:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()


def zygotes(engine_pid: int) -> list[int]:
    threads = Path(f"/proc/{engine_pid}/task").glob("*/children")
    return [int(pid) for thread in threads for pid in thread.read_text().split() if "zygote.py" in command(int(pid))]


async def test_a_killed_engine(tmp_path: Path) -> None:
    async with engine(tmp_path) as (line, pid):
        os.kill(pid, signal.SIGKILL)
        await line.end()


async def test_an_engine_killed_together_with_its_zygotes(tmp_path: Path) -> None:
    """Nobody is left to clean up: the next engine on the same folder does it before it starts anything."""
    async with engine(tmp_path) as (line, pid):
        found = zygotes(pid)
        assert len(found) == 2
        for each in (pid, *found):
            os.kill(each, signal.SIGSTOP)
        for each in (pid, *found):
            os.kill(each, signal.SIGKILL)
        async with LocalRunner(tmp_path / "work"):
            assert line.is_cut()


async def test_a_runner_that_is_left(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    ends: list[Exit] = []

    async def run(runner: LocalRunner) -> None:
        ends.append(await runner.run(bench.with_daemon(str(line)), nothing))

    async with lifeline(tmp_path) as line, anyio.create_task_group() as tasks:
        async with LocalRunner(tmp_path / "work") as runner:
            tasks.start_soon(run, runner)
            await line.says("shell", "child", "daemon")
        assert line.is_cut()
    assert [ended.reason for ended in ends] == [ExitReason.LOST]
    assert list((tmp_path / "work").iterdir()) == []


async def test_a_runner_that_is_left_while_it_warms_up(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with LocalRunner(tmp_path / "work") as runner:
        runner.warm()
        with anyio.fail_after(10):
            while not zygotes(os.getpid()):
                await anyio.lowlevel.checkpoint()
    assert zygotes(os.getpid()) == []
    assert caplog.records == []


async def test_a_killed_zygote(tmp_path: Path) -> None:
    """Its attempts are lost and nothing of them is left; later ones get a new zygote."""
    bench = Bench(tmp_path)
    ends: dict[str, Exit] = {}

    async def run(request: TaskRequest) -> None:
        ends[request.key.path] = await runner.run(request, nothing)

    async with lifeline(tmp_path) as line, LocalRunner(tmp_path / "work", max_concurrent=2) as runner:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, bench.task("hangs", {"lifeline": str(line)}, node="forked"))
            tasks.start_soon(run, bench.with_daemon(str(line), node="plain"))
            await line.says(*EVERYONE)
            for pid in zygotes(os.getpid()):
                os.kill(pid, signal.SIGKILL)
        assert line.is_cut()
        lost = {node: ended.reason for node, ended in ends.items()}
        assert lost == {"forked": ExitReason.LOST, "plain": ExitReason.LOST}
        assert "ended unexpectedly, with status -9" in ends["forked"].message
        assert (await runner.run(bench.task("add", {"a": 1}, node="n2"), nothing)).code == 0
        assert (await runner.run(bench.shell("exit 4", node="n3"), nothing)).code == 4
    assert bench.outputs("n2") == 3


HEADLESS = """
import ctypes, platform, sys, threading

threading.Thread(target=sys.stdin.read).start()
print("ready", flush=True)
ctypes.CDLL(None).syscall(60 if platform.machine() == "x86_64" else 93, 0)  # exit, of this thread alone
"""


def test_a_process_whose_first_thread_is_dead_is_not_down_yet() -> None:
    with subprocess.Popen([sys.executable, "-c", HEADLESS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        stat = Path(f"/proc/{process.pid}/stat")
        while ") Z " not in stat.read_text():
            time.sleep(0.001)
        assert _is_dying(process.pid)
        process.kill()
        descriptor = os.pidfd_open(process.pid)
        select.select([descriptor], [], [])
        os.close(descriptor)
        assert not _is_dying(process.pid)
