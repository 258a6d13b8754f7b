from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from engine.adapters.processes.runner import LocalRunner
from engine.ports.taskrunner import Exit, ExitReason
from tests.service.lifeline import lifeline
from tests.service.tasks import Bench, nothing


@pytest.mark.service("flytekit")
@pytest.mark.service("fork")
async def test_a_daemon_that_holds_the_pipes_of_a_forked_task(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    async with lifeline(tmp_path) as line, LocalRunner(tmp_path / "work") as runner:
        with anyio.fail_after(10):
            ended = await runner.run(bench.task("leaves_a_daemon", {"lifeline": str(line)}), nothing)
        await line.says("task", "daemon")
        assert line.is_cut()
    assert (ended.reason, ended.code, bench.outputs()) == (ExitReason.EXITED, 0, 1)
    assert "(processes it left behind, ended with it: " in ended.message


@pytest.mark.service("fork")
async def test_children_of_a_plain_command(tmp_path: Path) -> None:
    """The shell ends as soon as its child and its daemon have said that they live."""
    bench = Bench(tmp_path)
    await anyio.run_process(["mkfifo", str(tmp_path / "said")])
    hang = "while :; do sleep 3600; done"
    script = (
        f"exec 8<> {tmp_path}/said 9> {tmp_path}/lifeline; "
        f"setsid sh -c 'echo daemon >&8; {hang}' & (echo child >&8; {hang}) & read a <&8; read b <&8; exit 5"
    )
    async with lifeline(tmp_path) as line, LocalRunner(tmp_path / "work") as runner:
        with anyio.fail_after(10):
            ended = await runner.run(bench.shell(script), nothing)
        assert line.is_cut()
    assert (ended.reason, ended.code) == (ExitReason.EXITED, 5)


@pytest.mark.service("fork")
async def test_an_orphan_is_the_tasks_own_as_long_as_the_task_lives(tmp_path: Path) -> None:
    """A background job whose own parent is gone goes on when another task ends and is cleaned up after."""
    bench = Bench(tmp_path)
    ends: list[Exit] = []
    for name in ("go", "answer"):
        await anyio.run_process(["mkfifo", str(tmp_path / name)])
    job = f"exec 9> {tmp_path}/lifeline; echo orphan >&9; read x < {tmp_path}/go; echo done > {tmp_path}/answer"
    script = f"(setsid sh -c '{job}' &); read answer < {tmp_path}/answer; [ $answer = done ]"

    async def run() -> None:
        ends.append(await runner.run(bench.shell(script), nothing))

    async with lifeline(tmp_path) as line, LocalRunner(tmp_path / "work", max_concurrent=2) as runner:
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(run)
                await line.says("orphan")
                ends.append(await runner.run(bench.shell("exit 6", node="n1"), nothing))
                await anyio.Path(tmp_path / "go").write_text("go\n")
    assert [ended.code for ended in ends] == [6, 0]
