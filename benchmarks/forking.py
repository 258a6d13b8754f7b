"""Real, trivial flytekit tasks as processes: forked from the warm parent, beside plain starts."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import anyio

from benchmarks.figures import Figure
from benchmarks.programs import integer, literal_map
from benchmarks.worlds import execution, fresh_home
from engine.adapters.processes.runner import LocalRunner
from engine.model.ids import AttemptKey
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest
from tests.programs import task

SOURCE = """from flytekit import task


@task
def plus_one(a: int) -> int:
    return a + 1
"""
TASKS, PLAIN = 100, 4


async def forked_tasks() -> list[Figure]:
    async with fresh_home() as home:
        (home / "trivial.py").write_text(SOURCE)
        (home / "inputs.pb").write_bytes(literal_map(a=integer(1)))
        async with LocalRunner(home / "warm") as runner:
            await _attempt(runner, home, 0)
            alone = [await _attempt(runner, home, number) for number in range(1, 21)]
            rate = await _at_once(runner, home, TASKS, 1000)
        async with LocalRunner(home / "plain", fork=False) as runner:
            await _attempt(runner, home, 5000)
            plain_alone = await _attempt(runner, home, 5001)
            plain_rate = await _at_once(runner, home, PLAIN, 6000)
    p50 = statistics.median(alone)
    return [
        Figure("forked-tasks", rate, "tasks/s", plain_rate, plain_rate / rate, "trivial tasks, all cores"),
        Figure("forked-latency", p50 * 1e3, "ms", plain_alone * 1e3, p50 / plain_alone, "start to verdict, idle, p50"),
    ]


async def _at_once(runner: LocalRunner, home: Path, count: int, first: int) -> float:
    begin = time.perf_counter()
    async with anyio.create_task_group() as group:
        for number in range(first, first + count):
            group.start_soon(_attempt, runner, home, number)
    return count / (time.perf_counter() - begin)


async def _attempt(runner: LocalRunner, home: Path, number: int) -> float:
    """Seconds of one attempt."""
    begin = time.perf_counter()
    exit = await runner.run(_request(home, number), lambda: None)
    if exit != Exit(ExitReason.EXITED, 0, exit.message, exit.started_at, exit.ended_at):
        raise SystemExit(f"a trivial task failed: {exit}")
    return time.perf_counter() - begin


def _request(home: Path, number: int) -> TaskRequest:
    prefix = home / "out" / str(number)
    arguments: Mapping[str, str] = {
        "--inputs": str(home / "inputs.pb"),
        "--output-prefix": str(prefix),
        "--raw-output-data-prefix": str(home / "raw" / str(number)),
        "--checkpoint-path": str(home / "cp"),
        "--prev-checkpoint": '""',
        "--resolver": "flytekit.core.python_auto_container.default_task_resolver",
    }
    argv = ["pyflyte-execute", *[word for pair in arguments.items() for word in pair]]
    argv += ["--", "task-module", "trivial", "task-name", "plus_one"]
    return TaskRequest(
        key=AttemptKey(execution(number), "n0"),
        task=task("plus_one"),
        argv=tuple(argv),
        env={"FLYTE_INTERNAL_EXECUTION_ID": "bench", "PATH": f"{Path(sys.executable).parent}{os.pathsep}/usr/bin:/bin"},
        prefix_uri=f"file://{prefix}",
        code_root=str(home),
    )
