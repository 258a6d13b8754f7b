"""The checks that hold for every test (tests/conftest.py) can fail, and skipped services are named at the end."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest
from blockbuster import BlockingError

from config.sources import from_file
from tests import leftovers
from tests.leftovers import no_children_left, no_tasks_left

ROOT = Path(__file__).parents[2]


async def test_a_task_that_is_left_over_is_named() -> None:
    async def idle() -> None:
        await asyncio.Event().wait()

    task = None
    with pytest.raises(AssertionError, match=r"left asyncio tasks: .*idle"):
        async with no_tasks_left():
            task = asyncio.create_task(idle())
    assert task
    task.cancel()


async def test_a_task_that_is_about_to_end_is_no_leftover() -> None:
    async with no_tasks_left():
        task = asyncio.create_task(asyncio.Event().wait())
        await asyncio.sleep(0)
        task.cancel()


@pytest.mark.service("fork")
def test_a_child_that_is_left_over_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "SETTLE_SECONDS", 0.0)
    children: list[subprocess.Popen[bytes]] = []

    def leave_a_child() -> None:
        with no_children_left():
            children.append(subprocess.Popen(["sh", "-c", "echo ready; read line"], stdin=PIPE, stdout=PIPE))
            assert children[0].stdout
            assert children[0].stdout.readline() == b"ready\n"

    try:
        with pytest.raises(AssertionError, match=r"left child processes: .*sh -c echo ready"):
            leave_a_child()
    finally:
        children[0].communicate()


async def test_a_blocking_call_of_ours_in_the_loop_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    await asyncio.to_thread(file.write_text, "a: {}")
    with pytest.raises(BlockingError):
        from_file(file, "here")
    assert await asyncio.to_thread(from_file, file, "here")


RUN = """
import pytest
from tests.services import SERVICES

SERVICES["moon"] = lambda: "no rocket here"


@pytest.mark.service("moon")
@pytest.mark.parametrize("number", [1, 2])
def test_landing(number):
    raise AssertionError


@pytest.mark.service
def test_at_home():
    pass
"""


@pytest.mark.service
@pytest.mark.parametrize("how", [[], ["--numprocesses", "2"]], ids=["one process", "two processes"])
def test_services_that_are_not_there_are_skipped_by_name_and_counted(tmp_path: Path, how: list[str]) -> None:
    (tmp_path / "test_run.py").write_text(RUN)
    argv = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", *how]
    where = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), str(tmp_path)]
    env = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run([*argv, *where], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False)
    lines = done.stdout.splitlines()
    assert "service moon: skipped, no rocket here (2 tests)" in lines[-4:], done.stdout
    assert "1 passed, 2 skipped" in lines[-1]
