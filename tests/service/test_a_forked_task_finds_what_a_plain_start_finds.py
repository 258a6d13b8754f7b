"""What a task can see of its process: the same after a fork as after a plain start, and nothing of other tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.adapters.processes.runner import LocalRunner
from tests.service.tasks import WORKFLOWS, Bench, nothing

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("fork")]


async def seen(folder: Path, *, fork: bool) -> dict[str, str]:
    """What task `looks_around` gives, with the folder of the test cut out."""
    bench = Bench(folder)
    env = {"MINE": "of the container", "FLYTE_ATTEMPT_NUMBER": "4", "FLYTE_SDK_LOGGING_LEVEL": "40"}
    async with LocalRunner(folder / "w", fork=fork) as runner:
        await runner.run(bench.task("looks_around", env=env), nothing)
    values: dict[str, str] = bench.outputs()
    return {name: value.replace(str(folder), "") for name, value in values.items()}


async def test_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/the/authors/own")
    monkeypatch.setenv("MINE", "of the author")
    forked = await seen(tmp_path / "a", fork=True)
    assert forked == await seen(tmp_path / "b", fork=False)
    assert {name: forked[name] for name in ("argv0", "main", "cwd", "tmpdir", "mine", "attempt", "files")} == {
        "argv0": "pyflyte-execute",
        "main": "pyflyte-execute",
        "cwd": "/w/running/1/cwd",
        "tmpdir": "/w/running/1/tmp",
        "mine": "of the container",
        "attempt": "4",
        "files": "",
    }
    assert (forked["own sandbox"], forked["own workspace"], forked["log level"]) == ("True", "True", "40")
    assert forked["path"].split(":")[1:3] == [str(WORKFLOWS), "/the/authors/own"]


async def test_threads_are_waited_for_and_exit_handlers_run(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    async with LocalRunner(tmp_path / "work") as runner:
        await runner.run(bench.task("at_exit", {"path": str(tmp_path / "said")}), nothing)
    assert (tmp_path / "said").read_text() == "thread;atexit;"


async def test_two_forks_draw_different_random_numbers(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    async with LocalRunner(tmp_path / "work") as runner:
        for node in ("n0", "n1"):
            await runner.run(bench.task("draws", node=node), nothing)
    first, second = bench.outputs("n0"), bench.outputs("n1")
    assert len({*first, *second}) == 6


async def test_environment_and_files_of_one_task_are_not_there_for_the_next(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    async with LocalRunner(tmp_path / "work") as runner:
        await runner.run(bench.task("leaves_things", node="n0", env={"MINE": "1"}), nothing)
        await runner.run(bench.task("looks_around", node="n1"), nothing)
    found = bench.outputs("n1")
    assert (found["mine"], found["files"], found["left"]) == ("", "", "")
