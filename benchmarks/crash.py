"""W6: kill -9 in the middle of 500 executions of 5 nodes, then a resume."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import anyio

from benchmarks.figures import Figure
from benchmarks.workloads import ONE, run_many
from benchmarks.worlds import engine_on, fresh_home
from engine.adapters.sqlite.log import SqliteLog
from tests.programs import chain

EXECUTIONS = 500


async def w6() -> list[Figure]:
    """Seconds from the start of the second engine to the end of everything that was accepted."""
    program = chain(5)
    async with fresh_home() as home:
        async with engine_on(home / "whole", program, ONE) as engine:
            whole = await run_many(engine, program, EXECUTIONS)
        broken = home / "broken"
        killed = await anyio.to_thread.run_sync(
            lambda: subprocess.run([sys.executable, "-m", "benchmarks.crash", str(broken), str(whole / 2)], check=False)
        )
        if killed.returncode != -signal.SIGKILL:
            raise SystemExit(f"the engine should have died of SIGKILL, not with {killed.returncode}")
        begin = time.perf_counter()
        async with engine_on(broken, program, ONE) as engine:
            waiting = engine.unfinished()
            for one in waiting:
                await engine.wait(one)
            seconds = time.perf_counter() - begin
        accepted, completed, repeated = await _count(broken)
    note = f"accepted {accepted}, completed {completed}, unfinished at the kill {len(waiting)}, repeated {repeated}"
    return [Figure("W6", seconds, "s", whole, seconds / whole, f"kill -9 amid 500 x 5; {note}")]


async def _count(home: Path) -> tuple[int, int, int]:
    """Executions accepted and completed, and attempts whose success stands twice in the history (always 0)."""
    async with SqliteLog.open_readonly(home) as log:
        records = await log.executions()
        successes: Counter[tuple[str, str]] = Counter()
        for record in records:
            for fact in await log.history(record.id):
                if fact.path and fact.phase == "SUCCEEDED":
                    successes[(record.id.name, fact.path)] += 1
    completed = sum(record.phase.value == "SUCCEEDED" for record in records)
    return len(records), completed, sum(count - 1 for count in successes.values())


async def die_in_the_middle(home: Path, after_seconds: float) -> None:
    async def die() -> None:
        await anyio.sleep(after_seconds)
        os.kill(os.getpid(), signal.SIGKILL)

    program = chain(5)
    async with engine_on(home, program, ONE) as engine, anyio.create_task_group() as group:
        group.start_soon(die)
        await run_many(engine, program, EXECUTIONS)


if __name__ == "__main__":
    anyio.run(die_in_the_middle, Path(sys.argv[1]), float(sys.argv[2]), backend_options={"use_uvloop": True})
