from __future__ import annotations

import logging
from pathlib import Path

import pytest

from engine.adapters.processes.runner import LocalRunner
from engine.ports.taskrunner import ExitReason
from tests.service.tasks import Bench, nothing

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("fork")]
SOURCE = """
import {name} as own
from flytekit import task

@task
def where() -> str:
    return f"{{own.__file__}} {{own.WORD}}"
"""


async def where(folder: Path, *names: str) -> list[str]:
    """Where tasks find the module that lies beside their own file, for each name."""
    found: list[str] = []
    async with LocalRunner(folder / "work") as runner:
        for name in names:
            code = folder / name / "code"
            code.mkdir(parents=True)
            (code / f"{name}.py").write_text(f"WORD = 'of the author'\n{name} = None\n")
            (code / "flow.py").write_text(SOURCE.format(name=name))
            bench = Bench(folder / name, code, "flow")
            await runner.run(bench.task("where"), nothing)
            found.append(bench.outputs().replace(str(code), "<code>"))
    return found


async def test_modules_named_like_the_engines_own_are_the_authors(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    names = ["engine", "handlers", "config", "capture", "forked", "zygote", "child"]
    assert await where(tmp_path, *names) == [f"<code>/{name}.py of the author" for name in names]
    assert caplog.records == []


async def test_a_module_that_the_warm_parent_has_too_is_the_authors(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Such a task can't be a fork, where the parent's own would be found: it starts plainly."""
    with caplog.at_level(logging.WARNING):
        assert await where(tmp_path, "croniter") == ["<code>/croniter.py of the author"]
    assert [record.__dict__["cause"] for record in caplog.records] == [
        f"{tmp_path}/croniter/code/croniter is imported before the module of that name in the warm parent"
    ]


async def test_a_package_without_init_shadows_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "croniter").mkdir()
    bench = Bench(tmp_path / "runs", tmp_path)
    (tmp_path / "outcomes.py").write_text((Path(__file__).parents[1] / "workflows" / "outcomes.py").read_text())
    async with LocalRunner(tmp_path / "work") as runner:
        await runner.run(bench.task("add", {"a": 1}), nothing)
    assert (bench.outputs(), caplog.records) == (3, [])


async def test_a_missing_module_is_the_tasks_error(tmp_path: Path) -> None:
    bench = Bench(tmp_path, module="no_such_module")
    async with LocalRunner(tmp_path / "work") as runner:
        ended = await runner.run(bench.task("add"), nothing)
    assert (ended.reason, ended.code) == (ExitReason.EXITED, 0)
    assert "No module named 'no_such_module'" in bench.error().message
    assert bench.error().code == "USER:RuntimeError"
