"""Whether an attempt failed because the disk that it works on is full, which is not the task's fault."""

from __future__ import annotations

import os
from pathlib import Path

from anyio import to_thread

from engine.model.errors import StoreFailed
from engine.model.ids import AttemptKey
from engine.ports.taskrunner import Exit, ExitReason

ROOM = 64 * 1024
"""Bytes; as much as an error's text may need."""


async def check(ended: Exit, key: AttemptKey, folder: Path) -> None:
    """To be asked while the attempt's own files are still there. Raises StoreFailed, OSError."""
    if (ended.reason, ended.code) != (ExitReason.EXITED, 0) and await to_thread.run_sync(_is_full, folder):
        raise StoreFailed(
            f"the disk of {folder} is full, attempt {key} failed on it. The engine stops; nothing acknowledged is "
            "lost, a resume runs the attempt again"
        )


def _is_full(folder: Path) -> bool:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize < ROOM
