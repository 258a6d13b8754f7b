"""What a test may not leave behind: asyncio tasks and child processes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

SETTLE_TICKS = 3
"""Turns of the loop that a task which was just told to end may still take."""
SETTLE_SECONDS = 2.0
"""A child that was just killed needs a moment to go; only a test that fails ever waits this long."""


@asynccontextmanager
async def no_tasks_left() -> AsyncIterator[None]:
    before = asyncio.all_tasks()
    yield
    for _ in range(SETTLE_TICKS):
        await asyncio.sleep(0)
    left = asyncio.all_tasks() - before - {asyncio.current_task()}
    assert not left, f"the test left asyncio tasks: {sorted(map(repr, left))}"


@contextmanager
def no_children_left() -> Iterator[None]:
    before = children()
    yield
    deadline = time.monotonic() + SETTLE_SECONDS
    while (left := children() - before) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not left, f"the test left child processes: {[f'{pid} ({command(pid)})' for pid in sorted(left)]}"


def children() -> set[int]:
    """Process ids of this process's children, dead ones that nobody waited for included (Linux only, else empty)."""
    lists = [_text(path) for path in Path("/proc/self/task").glob("*/children")]
    return {int(pid) for pids in lists for pid in pids.split() if "resource_tracker" not in command(int(pid))}


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""  # a thread that has just ended


def command(pid: int) -> str:
    """The command line of a process, or how it can be told otherwise."""
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return "gone"
    return line.replace(b"\0", b" ").decode(errors="replace").strip() or "it has ended, but nobody waited for it"
