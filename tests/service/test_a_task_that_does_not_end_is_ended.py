from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from engine.adapters.processes.runner import LocalRunner
from engine.ports.taskrunner import Exit, ExitReason
from tests.service.lifeline import lifeline
from tests.service.tasks import Bench, key, nothing

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("fork")]


async def test_a_task_that_ignores_sigterm_is_killed_after_its_grace(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    async with lifeline(tmp_path) as line:
        request = bench.task("ignores_sigterm", {"lifeline": str(line)}, timeout_seconds=0.4)
        async with LocalRunner(tmp_path / "work", stop_grace_seconds=0.2) as runner:
            ended = await runner.run(request, nothing)
            assert line.is_cut()
    assert ended.reason is ExitReason.TIMED_OUT
    assert ended.message.startswith("it had not ended 0.4 s after its start; its processes got SIGTERM, and SIGKILL")
    assert 0.6 <= ended.ended_at - ended.started_at < 10


async def test_a_task_that_obeys_sigterm_is_not_waited_for(tmp_path: Path) -> None:
    """And what it said meanwhile is told."""
    script = "trap 'echo bye >&2; exit 0' TERM; while :; do sleep 3600 & wait; done"
    request = Bench(tmp_path).shell(script, timeout_seconds=0.2)
    async with LocalRunner(tmp_path / "work", stop_grace_seconds=60) as runner:
        with anyio.fail_after(10):
            ended = await runner.run(request, nothing)
    assert ended.reason is ExitReason.TIMED_OUT
    assert ended.message.endswith("Its stderr ended with:\nbye")


async def test_stop_ends_the_whole_group(tmp_path: Path) -> None:
    ends: list[Exit] = []
    request = Bench(tmp_path)

    async def run() -> None:
        ends.append(await runner.run(request.with_daemon(str(line)), nothing))

    async with (
        lifeline(tmp_path) as line,
        LocalRunner(tmp_path / "work", stop_grace_seconds=0.1) as runner,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(run)
        await line.says("shell", "child", "daemon")
        await runner.stop(key())
        assert line.is_cut()
    assert [(ended.reason, ended.code) for ended in ends] == [(ExitReason.SIGNALLED, 15)]


async def test_a_cancellation_in_the_middle_of_the_grace_leaves_nothing(tmp_path: Path) -> None:
    """The clean-up is not cut short by the cancellation that it answers, nor by one that comes meanwhile."""
    request = Bench(tmp_path)
    async with lifeline(tmp_path) as line:
        hangs = request.task("ignores_sigterm", {"lifeline": str(line)}, timeout_seconds=0.3)
        async with LocalRunner(tmp_path / "work", stop_grace_seconds=0.6) as runner:
            async with anyio.create_task_group() as tasks:
                running = anyio.Event()
                tasks.start_soon(runner.run, hangs, running.set)
                await running.wait()
                await line.says("task")
                tasks.cancel_scope.deadline = anyio.current_time() + 0.6
            assert line.is_cut()


async def test_stop_while_it_starts(tmp_path: Path) -> None:
    """Whatever the moment (counted in turns of the loop), it is gone at the return, and the next one starts."""
    bench = Bench(tmp_path)
    ends: list[Exit] = []

    async def run(node: str) -> None:
        ends.append(await runner.run(bench.task("hangs", {"lifeline": str(line)}, node=node), nothing))

    async with lifeline(tmp_path) as line, LocalRunner(tmp_path / "work", stop_grace_seconds=30) as runner:
        await runner.run(bench.task("add", {"a": 1}, node="first"), nothing)
        for turns in (1, 2, 3, 5, 8, 13, 40, 200):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(run, f"n{turns}")
                for _ in range(turns):
                    await anyio.lowlevel.checkpoint()
                with anyio.fail_after(10):
                    await runner.stop(key(f"n{turns}"))
                assert line.is_cut()
            assert (await runner.run(bench.shell("exit 4", node=f"m{turns}"), nothing)).code == 4
        assert [path.name for path in (tmp_path / "work" / "running").iterdir() if path.name.isdigit()] == []
    assert len(ends) == 8
    assert {ended.reason for ended in ends} <= {ExitReason.NOT_STARTED, ExitReason.SIGNALLED}
