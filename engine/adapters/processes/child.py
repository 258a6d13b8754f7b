"""One task process as the zygote sees it: its pipes, what it printed, how it began and how it ended.

Standard library only: it runs inside the zygote, in the author's Python.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.adapters.processes import capture, forked
else:
    from _propwash_tasks import capture, forked

CHUNK = 64 * 1024
TURN = 16
"""Chunks taken from one pipe before the others get their turn; also more than a pipe holds."""
TAIL = 2048
"""Bytes of the end of stderr that are reported with a task's end."""
_LATER = (signal.SIGCHLD, signal.SIGTERM)
"""Signals that wait from a fork to the moment at which the child has handlers of its own."""


class Child:
    """From the fork until nothing of the task is left."""

    def __init__(self, request: dict[str, Any], pid: int, pipes: list[int], hang_up: Callable[[int], object]) -> None:
        self.id, self.pid, self._hang_up = request["id"], pid, hang_up
        self._logs = [capture.Capture(request[name], request["log_limit"]) for name in ("stdout", "stderr")]
        self._status = pipes[2]
        self.pipes = set(pipes)
        """The descriptors still open."""
        self._log_of = dict(zip(pipes[:2], self._logs, strict=True))
        self._begun_at = 0.0
        self._failure: dict[str, Any] | None = None
        self._end: dict[str, Any] = {}

    def read(self, pipe: int) -> dict[str, Any] | None:
        """Take what a pipe holds, and close it at its end. A message to send, if the task has just begun."""
        for _ in range(TURN):
            try:
                data = os.read(pipe, CHUNK)
            except BlockingIOError:
                return None
            if pipe == self._status:
                return self._begin(data.decode(errors="replace"))
            if not data:
                self._close(pipe)
                return None
            self._log_of[pipe].write(data)
        return None

    def _close(self, pipe: int) -> None:
        self.pipes.discard(pipe)
        self._hang_up(pipe)
        os.close(pipe)

    def _begin(self, text: str) -> dict[str, Any] | None:
        """The status pipe closed: the task has begun, or it said why it can't."""
        self._close(self._status)
        self._begun_at = time.time()
        if text:
            number, _, message = text.partition(" ")
            self._failure = {"op": "failed", "id": self.id, "errno": int(number), "message": message}
            return None
        return {"op": "started", "id": self.id, "pid": self.pid, "at": self._begun_at}

    def kill(self, number: int) -> None:
        """Signal the group; a process that has not begun is no group yet, and has nothing to clean up."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._begun_at:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, signal.SIGKILL)

    def kill_group(self) -> None:
        """The rest of the group, before its dead leader is waited for: until then the number is nobody else's."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def died(self, status: int, usage: resource.struct_rusage) -> None:
        unit = 1 if sys.platform == "darwin" else 1024
        self._end = {"status": status, "at": time.time(), "maxrss": usage.ru_maxrss * unit}

    def report(self, left_behind: int) -> list[dict[str, Any]]:
        """Nothing of the task is left: the last messages about it."""
        begun = self.read(self._status) if self._status in self.pipes else None
        for pipe in tuple(self.pipes):
            self.read(pipe)
        for pipe in tuple(self.pipes):
            self._close(pipe)  # held open from outside the task: by whom is not ours to find out
        tail = self._logs[1].last(TAIL).decode(errors="replace")
        for log in self._logs:
            log.close()
        if self._failure is not None:
            return [self._failure]
        problem = self._logs[0].problem or self._logs[1].problem
        end = {"op": "ended", "id": self.id, **self._end, "tail": tail, "left_behind": left_behind}
        return [*([begun] if begun else []), {**end, "log_problem": problem}]


def start(request: dict[str, Any], hang_up: Callable[[int], object], *, warm: bool) -> Child:
    """Fork a process that becomes the task. Raises OSError (no memory, no process, no descriptor to be had).

    `hang_up` is called with each of its pipes just before that is closed.
    """
    pipes: list[tuple[int, int]] = []
    try:
        pipes.extend(os.pipe() for _ in range(3))
        (_, stdout), (_, stderr), (_, status) = pipes
        pid = _fork(request, (stdout, stderr, status), warm=warm)
    except OSError:
        for read, _ in pipes:
            os.close(read)
        raise
    finally:
        for _, write in pipes:
            os.close(write)
    for read, _ in pipes:
        os.set_blocking(read, False)
    return Child(request, pid, [read for read, _ in pipes], hang_up)


def _fork(request: dict[str, Any], pipes: tuple[int, int, int], *, warm: bool) -> int:
    zygote = os.getpid()
    signal.pthread_sigmask(signal.SIG_BLOCK, _LATER)
    try:
        pid = os.fork()
        if pid == 0:
            try:
                forked.become(request["argv"], request["env"], request["cwd"], pipes, zygote, warm=warm)
            finally:
                os._exit(127)
        return pid
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _LATER)
