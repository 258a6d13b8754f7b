"""A container as a local process: its own session, its output in one file, its end as a kubelet tells it."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

TAIL_BYTES, TAIL_LINES = 2048, 80
"""What a kubelet takes from the log for a message."""
_PR_SET_PDEATHSIG = 1
NOT_FOUND = 128
"""Exit code of a container whose program could not be started."""


class Process:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def wait(self) -> int:
        """Its exit code; 128 + n after signal n. What it left behind in its session is killed."""
        code = await self._process.wait()
        self.signal(signal.SIGKILL)
        return code if code >= 0 else 128 - code

    def signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            """All gone."""


async def start(argv: Sequence[str], env: Mapping[str, str], folder: Path, log: Path) -> Process:
    """Raises OSError: it can't be started."""
    with open(log, "ab") as output:  # noqa: ASYNC230 - a new file in a temporary folder
        process = await asyncio.create_subprocess_exec(
            *argv,
            env=env,
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )
    return Process(process)


def _end_with_parent() -> None:
    """Linux only: a kubelet that is killed leaves no containers."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def tail(log: Path) -> str:
    """The last lines of a log, as FallbackToLogsOnError takes them."""
    try:
        with open(log, "rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - TAIL_BYTES, 0))
            return "".join(file.read().decode(errors="replace").splitlines(keepends=True)[-TAIL_LINES:])
    except FileNotFoundError:
        return ""
