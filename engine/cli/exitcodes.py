"""What the command's exit code says. README.md has the same list; a test compares them."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    SUCCEEDED = 0
    """The execution succeeded, or the command did what it was asked."""
    FAILED = 1
    """The execution ended in another phase than SUCCEEDED."""
    BAD_INPUT = 2
    """Bad usage, input, package or settings, or a home that can't be used. Nothing was started."""
    ENGINE_STOPPED = 3
    """The engine itself could not go on, for example because the disk is full. `propwash resume` continues."""
    DEFECT = 70
    """The engine contradicts itself: a traceback is on stderr. `propwash resume` continues what was unfinished."""
    INTERRUPTED = 130
    """Ended by Ctrl-C (SIGINT). `propwash resume` continues what was unfinished."""
    TERMINATED = 143
    """Ended by SIGTERM. `propwash resume` continues what was unfinished."""
