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
from collections.abc import Iterable

LIMIT_SECONDS = 10.0


def sweep(mark: bytes) -> int:
    """Kill every process whose environment holds `mark`, until there is none left. Blocking; how many there were."""
    deadline = time.monotonic() + LIMIT_SECONDS
    killed: set[int] = set()
    while (found := _marked(mark)) and time.monotonic() < deadline:
        killed |= found
        _kill_and_wait(found, mark, deadline)
    return len(killed)


def wait_until_gone(pids: Iterable[int]) -> None:
    """Wait for processes that are being killed. Blocking, bounded; where there are no pidfds it returns at once."""
    deadline = time.monotonic() + LIMIT_SECONDS
    if not hasattr(os, "pidfd_open"):
        return
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            descriptor = os.pidfd_open(pid)
            try:
                dying = select.poll()
                dying.register(descriptor, select.POLLIN)
                dying.poll(max(0.0, deadline - time.monotonic()) * 1000)
            finally:
                os.close(descriptor)


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
