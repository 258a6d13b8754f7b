"""From how a process ended to an Exit, with a message for people."""

from __future__ import annotations

import errno
import os
import signal

from engine.adapters.processes.messages import Ended, Failed
from engine.model.errors import Transient
from engine.ports.taskrunner import Exit, ExitReason

_AS_ASKED = frozenset(
    {
        errno.E2BIG,
        errno.EACCES,
        errno.EINVAL,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENOENT,
        errno.ENOEXEC,
        errno.ENOTDIR,
        errno.EPERM,
    }
)
"""The command itself is at fault: it would fail the same way at any time."""


def of_loss(problem: str, started_at: float, now: float) -> Exit:
    """Its zygote died, and took it along."""
    return Exit(ExitReason.LOST, 0, problem, started_at, now)


def of_end(ended: Ended, started_at: float) -> Exit:
    """The process ended by itself, or was killed from outside."""
    notes = [ended.tail.strip()]
    if ended.left_behind:
        notes.append(f"(processes it left behind, ended with it: {ended.left_behind})")
    if os.WIFSIGNALED(ended.status):
        number = os.WTERMSIG(ended.status)
        notes.append(f"({_name(number)}; peak memory {ended.maxrss / 2**20:.0f} MiB)")
        return _exit(ExitReason.SIGNALLED, number, notes, started_at, ended.at)
    return _exit(ExitReason.EXITED, os.waitstatus_to_exitcode(ended.status), notes, started_at, ended.at)


def of_failure(failed: Failed, program: str, path: str) -> Exit:
    """The process could not become the task. Raises Transient where that is not the command's fault."""
    if failed.errno not in _AS_ASKED:
        raise Transient(f"the command {program!r} could not be started: {failed.message}")
    where = f"; looked for it in {path}" if failed.errno == errno.ENOENT and "/" not in program else ""
    hint = "; is flytekit installed there?" if where and program.startswith("pyflyte") else ""
    return Exit(
        ExitReason.REFUSED, failed.errno, f"the command {program!r} can't be run: {failed.message}{where}{hint}"
    )


def of_timeout(
    ended: Ended | None, timeout_seconds: float, grace_seconds: float, started_at: float, now: float
) -> Exit:
    notes = [
        f"it had not ended {timeout_seconds:g} s after its start; its processes got SIGTERM, and SIGKILL for those "
        f"that were still there {grace_seconds:g} s later"
    ]
    if ended is not None and ended.tail.strip():
        notes.append(f"Its stderr ended with:\n{ended.tail.strip()}")
    return _exit(ExitReason.TIMED_OUT, 0, notes, started_at, ended.at if ended is not None else now)


def _exit(reason: ExitReason, code: int, notes: list[str], started_at: float, ended_at: float) -> Exit:
    return Exit(reason, code, "\n".join(filter(None, notes)), started_at, ended_at)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
