"""The engine's side of one zygote: its process, the conversation with it, and its burial."""

from __future__ import annotations

import contextlib
import errno
import logging
import math
import os
import signal
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio import to_thread
from anyio.abc import TaskStatus, UNIXSocketStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from msgspec import structs

from engine.adapters.processes.messages import (
    Ended,
    Failed,
    Message,
    Ready,
    Start,
    Started,
    Unframer,
    signal_frame,
    start_frame,
)
from engine.adapters.processes.sweep import sweep

log = logging.getLogger(__name__)

SCRIPT = Path(__file__).with_name("zygote.py")
KILL_SECONDS = 10.0
"""For a killed task, or a zygote that was told to go, to be gone; then the zygote itself is killed."""
_GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


@dataclass(frozen=True, slots=True)
class Setup:
    """How a zygote is started."""

    python: str
    warm: bool
    env: Mapping[str, str]
    mark: tuple[str, str]
    """A variable and its value, in the environment of the zygote and of everything that comes from it."""
    words: Path
    """File for what the zygote itself prints, which is nothing unless it crashes."""


class Job:
    """One command that a zygote runs."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.decided = anyio.Event()
        """It has begun, or it is over."""
        self.over = anyio.Event()
        """Nothing of it runs any more."""
        self.begun: Started | None = None
        self.end: Ended | Failed | None = None
        """None although it is over: lost with its zygote."""

    def settle(self, end: Ended | Failed | None) -> None:
        self.end = end
        self.decided.set()
        self.over.set()


class Parent:
    """One zygote, from its start to its end. `serve` runs as a task of the runner."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._jobs: dict[int, Job] = {}
        self._last_job = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._outbox: MemoryObjectSendStream[bytes] | None = None
        self.ready = anyio.Event()
        """It takes jobs, or never will."""
        self.alive = False
        self.problem = ""
        """Why it can't fork flytekit tasks, or why it ended."""
        self.modules: frozenset[str] = frozenset()
        """Top-level names of what it has imported."""

    def start(self, what: Start) -> Job:
        """Ask for a command to be run. The job is over at once if the zygote is gone."""
        self._last_job += 1
        job = Job(self._last_job)
        if self.alive:
            name, value = self._setup.mark
            self._jobs[job.number] = job
            self._send(start_frame(job.number, structs.replace(what, env={**what.env, name: value})))
        else:
            job.settle(Failed(job.number, errno.EAGAIN, self.problem or "its zygote has ended"))
        return job

    async def end(self, job: Job, grace_seconds: float) -> None:
        """SIGTERM, SIGKILL after the grace; returns when the job is over. Bounded."""
        for number, seconds in ((signal.SIGTERM, grace_seconds), (signal.SIGKILL, KILL_SECONDS)):
            if seconds > 0:
                self._send(signal_frame(job.number, number))
            with anyio.move_on_after(seconds):
                await job.over.wait()
                return
        log.error("a task outlived SIGKILL; its zygote is killed with everything it runs", extra={"job": job.number})
        self.kill()
        with anyio.move_on_after(2 * KILL_SECONDS):
            await job.over.wait()

    def kill(self) -> None:
        """The last resort. Every job of this zygote is lost."""
        if self._process is not None:
            self._process.kill()

    async def serve(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Start the zygote and talk with it until one of the two ends. Raises OSError before it has started."""
        ours, theirs = socket.socketpair()
        ended_by_itself = False
        try:
            self._process = await to_thread.run_sync(self._spawn, theirs)
            theirs.close()
            self._outbox, frames = anyio.create_memory_object_stream[bytes](math.inf)
            self.alive = True
            task_status.started()
            async with await UNIXSocketStream.from_socket(ours) as stream, anyio.create_task_group() as tasks:
                tasks.start_soon(self._write, stream, frames)
                await self._read(stream)
                ended_by_itself = True
                tasks.cancel_scope.cancel()
        finally:
            self.alive = False
            ours.close()
            theirs.close()
            with anyio.CancelScope(shield=True):
                await self._bury(unexpected=ended_by_itself)

    def _spawn(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        mode = "warm" if self._setup.warm else "plain"
        self._setup.words.parent.mkdir(parents=True, exist_ok=True)
        with self._setup.words.open("wb") as words:
            return subprocess.Popen(
                [self._setup.python, "-P", str(SCRIPT), str(theirs.fileno()), mode],
                env=dict(self._setup.env),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=words,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )

    def _send(self, frame: bytes) -> None:
        """Never waits: what a zygote is asked for at once is as little as the slots allow."""
        if self._outbox is not None:
            with contextlib.suppress(*_GONE):
                self._outbox.send_nowait(frame)

    async def _write(self, stream: UNIXSocketStream, frames: MemoryObjectReceiveStream[bytes]) -> None:
        with frames, contextlib.suppress(*_GONE):
            async for frame in frames:
                await stream.send(frame)

    async def _read(self, stream: UNIXSocketStream) -> None:
        unframer = Unframer()
        with contextlib.suppress(*_GONE):
            while True:
                for message in unframer.feed(await stream.receive()):
                    self._hear(message)

    def _hear(self, message: Message) -> None:
        match message:
            case Ready(problem, modules):
                self.problem, self.modules = problem, modules
                self.ready.set()
            case Started(number):
                job = self._jobs[number]
                job.begun = message
                job.decided.set()
            case Ended(number) | Failed(number):
                self._jobs.pop(number).settle(message)

    async def _bury(self, *, unexpected: bool) -> None:
        """Wait for the zygote's end, kill whatever is left of its tasks, and tell those who wait for them."""
        if self._process is not None:
            if not self.ready.is_set():
                self._process.kill()  # it has no task yet, and an import to finish before it would look up
            with anyio.move_on_after(KILL_SECONDS):
                await to_thread.run_sync(self._process.wait, abandon_on_cancel=True)
            if self._process.returncode is None:
                self._process.kill()
                await to_thread.run_sync(self._process.wait)
            if self._jobs or self._process.returncode != 0:
                await to_thread.run_sync(self._kill_leftovers)
            if unexpected:
                await to_thread.run_sync(self._hear_last_words)
        if self._outbox is not None:
            self._outbox.close()
        self.problem = self.problem or "the runner was closed"
        self.ready.set()
        for job in self._jobs.values():
            job.settle(None)
        self._jobs.clear()

    def _kill_leftovers(self) -> None:
        """The kernel has killed the tasks' own processes; their children bear the group's number or the mark."""
        for job in self._jobs.values():
            if job.begun is not None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(job.begun.pid, signal.SIGKILL)
        sweep("=".join(self._setup.mark).encode() + b"\0")

    def _hear_last_words(self) -> None:
        assert self._process is not None
        status = self._process.returncode
        words = self._setup.words.read_text(errors="replace").strip()[-1000:]
        self.problem = f"the process that starts tasks ended unexpectedly, with status {status}; it said: {words!r}"
        log.error("a zygote ended unexpectedly", extra={"status": status, "words": words})
