"""Where a fork could not be told from a plain start, it is not a fork; what can't be started says why."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest
from msgspec import structs

from engine.adapters.processes.programs import Programs
from engine.adapters.processes.runner import LocalRunner
from engine.model.errors import BadInput
from engine.ports.taskrunner import ExitReason
from tests.service.tasks import Bench, nothing

pytestmark = [pytest.mark.service("flytekit"), pytest.mark.service("fork")]


async def test_a_variable_that_python_reads_at_its_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(tmp_path)
    async with LocalRunner(tmp_path / "work") as runner:
        await runner.run(bench.task("hash_of", {"text": "x"}, node="n0", env={"PYTHONHASHSEED": "7"}), nothing)
        await runner.run(bench.task("hash_of", {"text": "x"}, node="n1", env={"PYTHONHASHSEED": "7"}), nothing)
        await runner.run(bench.task("hash_of", {"text": "x"}, node="n2", env={"PYTHONUNBUFFERED": "1"}), nothing)
    assert bench.outputs("n0") == bench.outputs("n1") != bench.outputs("n2")
    assert [(record.levelno, record.__dict__["cause"]) for record in caplog.records] == [
        (logging.WARNING, "the task sets PYTHONHASHSEED, which Python and flytekit read at their start")
    ]


async def test_an_environment_without_flytekit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter works, its pyflyte-execute does not exist."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    bare = tmp_path / "bin"
    bare.mkdir()
    (bare / "python").write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    (bare / "python").chmod(0o755)
    async with LocalRunner(tmp_path / "work", programs=Programs(str(bare / "python"))) as runner:
        ended = await runner.run(Bench(tmp_path).task("add", {"a": 1}), nothing)
    assert (ended.reason, ended.message) == (
        ExitReason.REFUSED,
        "the command 'pyflyte-execute' can't be run: No such file or directory; "
        f"looked for it in {bare}:/usr/bin:/bin; is flytekit installed there?",
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("no-such-program",), "the command 'no-such-program' can't be run: No such file or directory; looked for"),
        (("/etc/passwd",), "the command '/etc/passwd' can't be run: Permission denied"),
        ((), "its container has no command"),
        (("sh", "-c", "a\0b"), "the command 'sh' can't be run: embedded null byte"),
        (("sh", "-c", "x" * 200_000), "the command 'sh' can't be run: Argument list too long"),
    ],
)
async def test_a_command_that_can_not_be_run_is_refused(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    calls: list[int] = []
    request = structs.replace(Bench(tmp_path).shell(""), argv=words)
    async with LocalRunner(tmp_path / "work") as runner:
        ended = await runner.run(request, lambda: calls.append(1))
    assert ended.reason is ExitReason.REFUSED
    assert ended.message.startswith(says)
    assert calls == []


async def test_an_interpreter_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"processes\.python is 'no-such-python'; there is no such program"):
        async with LocalRunner(tmp_path / "work", programs=Programs("no-such-python")):
            pass
