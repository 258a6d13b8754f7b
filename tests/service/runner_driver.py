"""An engine in miniature, to be measured or killed: `python -m tests.service.runner_driver MODE FOLDER`.

flood   runs a task that prints 105 MB; prints how it ended and by how many KiB this process's peak memory grew
hang    starts a forked task and a plain one that leaves a daemon; all hang and hold FOLDER/lifeline open
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import anyio

from engine.adapters.processes.runner import LocalRunner
from tests.service.tasks import Bench, nothing


def peak_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


async def flood(folder: Path) -> None:
    bench = Bench(folder)
    async with LocalRunner(folder / "work") as runner:
        await runner.run(bench.task("add", {"a": 1}, node="first"), nothing)
        before = peak_kib()
        ended = await runner.run(bench.task("floods", {"megabytes": 50, "line_megabytes": 5}), nothing)
        print(ended.reason.value, ended.code, peak_kib() - before, flush=True)


async def hang(folder: Path) -> None:
    bench = Bench(folder)
    async with LocalRunner(folder / "work") as runner, anyio.create_task_group() as tasks:
        tasks.start_soon(runner.run, bench.task("hangs", {"lifeline": f"{folder}/lifeline"}, node="forked"), nothing)
        tasks.start_soon(runner.run, bench.with_daemon(f"{folder}/lifeline", node="plain"), nothing)


if __name__ == "__main__":
    anyio.run({"flood": flood, "hang": hang}[sys.argv[1]], Path(sys.argv[2]))
