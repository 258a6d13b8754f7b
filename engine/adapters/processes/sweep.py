"""Finds and kills processes by a mark in their environment: what a dead zygote or a dead engine left running.

Every process that a runner starts carries the mark, and so does whatever that process starts. Linux only: elsewhere
there is no /proc, and nothing is found.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time

LIMIT_SECONDS = 10.0
DYING_SECONDS = 1.0
"""In all, for whatever is dying: it may be somebody else's process, stuck in the kernel."""
PF_EXITING = 4
"""Of the flags in /proc/PID/stat (Linux, include/linux/sched.h)."""


def sweep(mark: bytes) -> int:
    """Kill every process whose environment holds `mark`, until there is none left. Blocking; how many there were."""
    deadline = time.monotonic() + LIMIT_SECONDS
    killed: set[int] = set()
    while (found := _marked(mark)) and time.monotonic() < deadline:
        killed |= found
        _kill_and_wait(found, mark, deadline)
    # The dying have lost their environment, and the mark with it, before they let go of their files.
    deadline = min(deadline, time.monotonic() + DYING_SECONDS)
    for pid in filter(_is_dying, _processes()):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            _wait(os.pidfd_open(pid), deadline)
    return len(killed)


def _marked(mark: bytes) -> set[int]:
    return {pid for pid in _processes() if pid != os.getpid() and mark in _environment(pid)}


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except FileNotFoundError:
        return []


def _environment(pid: int) -> bytes:
    """Empty for a process that is gone, dead, or another user's."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as environ:
            return environ.read()
    except OSError:
        return b""


def _is_dying(pid: int) -> bool:
    """Whether the kernel is taking the process down at this moment. One that is down (a zombie) holds nothing more, but
    its first thread looks like that while the others still hold its files."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            state, *numbers = stat.read().rpartition(")")[2].split()
    except OSError:
        return False
    flags, threads = int(numbers[5]), int(numbers[16])
    return threads > 1 if state in "ZX" else bool(flags & PF_EXITING)


def _wait(descriptor: int, deadline: float) -> None:
    try:
        end = select.poll()
        end.register(descriptor, select.POLLIN)
        end.poll(max(0.0, deadline - time.monotonic()) * 1000)
    finally:
        os.close(descriptor)


def _kill_and_wait(pids: set[int], mark: bytes, deadline: float) -> None:
    with contextlib.ExitStack() as stack:
        alive = select.poll()
        waiting = 0
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                descriptor = os.pidfd_open(pid)
                stack.callback(os.close, descriptor)
                if mark in _environment(pid):  # asked again: the number may have gone to another process meanwhile
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                    alive.register(descriptor, select.POLLIN)
                    waiting += 1
        while waiting and (left := deadline - time.monotonic()) > 0:
            for descriptor, _ in alive.poll(left * 1000):
                alive.unregister(descriptor)
                waiting -= 1
