"""An engine with its real log and store on a home of its own, and a runner whose tasks do nothing.

Inputs are resolved and written, outputs written and read as ever; only the start of a process is left out.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from engine.adapters.files.blobs import FileBlobs
from engine.adapters.memory.runner import NoopRunner, Script
from engine.adapters.memory.scripts import gives
from engine.adapters.sqlite.log import SqliteLog
from engine.adapters.systemclock import SystemClock
from engine.app import Engine, Equipment, load_program, running
from engine.loop.backoff import Backoff
from engine.loop.hooks import Hook, nothing
from engine.model.graph import Program
from engine.model.ids import ExecutionId
from engine.model.limits import ArrayLimits, ExecutionLimits, OffloadLimits, RetryLimits
from engine.ports.blobstore import BlobStore
from engine.ports.eventlog import EventLog


def execution(number: int = 0) -> ExecutionId:
    return ExecutionId("bench", "development", f"e{number}")


@asynccontextmanager
async def engine_on(
    home: Path,
    program: Program,
    outputs: bytes = b"",
    hook: Hook = nothing,
    arrays: ArrayLimits | None = None,
    script: Callable[[BlobStore], Script] | None = None,
) -> AsyncIterator[Engine]:
    """An engine whose tasks write `outputs` (a serialized LiteralMap) at once, or do as the script says."""
    async with SqliteLog.open(home) as log, engine_with(log, home, program, outputs, hook, arrays, script) as engine:
        yield engine


@asynccontextmanager
async def engine_with(
    log: EventLog,
    home: Path,
    program: Program,
    outputs: bytes = b"",
    hook: Hook = nothing,
    arrays: ArrayLimits | None = None,
    script: Callable[[BlobStore], Script] | None = None,
) -> AsyncIterator[Engine]:
    """The same on another log; the store is in the home."""
    async with FileBlobs.open(home / "store", porter=True) as blobs:
        found = equipment(blobs, program, script(blobs) if script else gives(blobs, outputs), hook, arrays)
        async with running(found.parts(log)) as engine:
            yield engine


def equipment(
    blobs: BlobStore, program: Program, script: Script, hook: Hook = nothing, arrays: ArrayLimits | None = None
) -> Equipment:
    """What engines need beside their logs; tasks do as the script says."""

    async def load(digest: str) -> Program:
        return program if digest == program.digest else await load_program(blobs, digest)

    return Equipment(
        blobs=blobs,
        runner=NoopRunner(script),
        clock=SystemClock(),
        offload=OffloadLimits(),
        retries=RetryLimits(),
        arrays=arrays or ArrayLimits(),
        executions=ExecutionLimits(),
        backoff=Backoff(),
        load=load,
        hook=hook,
    )


HOMES = Path(tempfile.mkdtemp(prefix="propwash-bench-"))
atexit.register(shutil.rmtree, HOMES, ignore_errors=True)


@asynccontextmanager
async def fresh_home() -> AsyncIterator[Path]:
    """A folder for one measurement. All are deleted at the end only: file systems such as ext4 make new files slowly
    for minutes after many were deleted."""
    yield Path(tempfile.mkdtemp(dir=HOMES))
