"""A home with 10,000 unfinished executions is taken up: how long until the first node starts."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import anyio

from benchmarks.figures import Figure
from benchmarks.workloads import ONE
from benchmarks.worlds import engine_on, execution, fresh_home
from engine.adapters.memory.runner import Script
from engine.adapters.memory.scripts import hangs
from engine.adapters.sqlite.home import LOG_FILE
from engine.adapters.sqlite.log import SqliteLog
from engine.loop.ledger import Ledger
from engine.machine import step
from engine.machine.draft import Rules
from engine.model.events import AttemptStarted, Event, ExecutionSubmitted
from engine.model.graph import Program
from engine.model.limits import ArrayLimits, ExecutionLimits, RetryLimits
from engine.ports.blobstore import BlobStore
from engine.ports.taskrunner import Exit, TaskRequest
from handlers.registry import default_handlers
from tests.programs import chain

EXECUTIONS, A_COMMIT = 10_000, 500


async def restore_10000() -> list[Figure]:
    """Seconds from the opening of the log to the first start of a task; reference: every row read, and nothing else."""
    program, first = chain(5), anyio.Event()

    def script(blobs: BlobStore) -> Script:
        async def play(request: TaskRequest) -> Exit:
            first.set()
            return await hangs(request)

        return play

    async with fresh_home() as home:
        await _leave_unfinished(home, program)
        plain = await anyio.to_thread.run_sync(_read_rows, home / LOG_FILE)
        begin, cpu = time.perf_counter(), time.process_time()
        async with engine_on(home, program, ONE, script=script) as engine:
            await first.wait()
            seconds, spent = time.perf_counter() - begin, time.process_time() - cpu
            unfinished = len(engine.unfinished())
    if unfinished != EXECUTIONS:
        raise SystemExit(f"{EXECUTIONS} executions were left unfinished, {unfinished} were taken up")
    note = f"10,000 unfinished executions, each with a task that ran; CPU {spent:.2f} s"
    return [Figure("restore-10000", seconds, "s", plain, seconds / plain, note)]


async def _leave_unfinished(home: Path, program: Program) -> None:
    """What an engine leaves that dies while the first task of each execution runs."""
    rules = Rules(default_handlers(), RetryLimits(), ArrayLimits(), ExecutionLimits())
    (workflow,) = program.workflows
    async with SqliteLog.open(home) as log:
        for begin in range(0, EXECUTIONS, A_COMMIT):
            ledger = Ledger()
            for number in range(begin, begin + A_COMMIT):
                submitted = ExecutionSubmitted(execution(number), workflow, program.digest, submitted_at=1.0, run="r")
                state = step.submitted(submitted, program)
                started = AttemptStarted(state.record.key("n0", 0), "file:///inputs.pb")
                events: tuple[Event, ...] = (submitted, started)
                for event in events:
                    done = step.apply(state, event, 1.0, rules)
                    state.absorb(done)
                    ledger.enter(done)
            await log.commit((), ledger.changes())


def _read_rows(path: Path) -> float:
    begin = time.perf_counter()
    connection = sqlite3.connect(path)
    for table in ("executions", "nodes"):
        for _ in connection.execute(f"SELECT payload FROM {table}"):
            pass
    connection.close()
    return time.perf_counter() - begin
