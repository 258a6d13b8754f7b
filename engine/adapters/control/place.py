"""Where the socket of a home is, by a path that is short enough for one."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOCKET = "control.sock"
LONGEST = 100
"""Bytes of a path that every system takes (Linux 107, macOS 103)."""
_DESCRIPTORS = "/proc/self/fd"


@contextmanager
def socket_path(home: Path) -> Iterator[str]:
    """A path of the home's socket, good within the block (blocking). Raises OSError, also for a path too long.

    A long one is named by way of the open folder, which Linux allows.
    """
    path = os.path.abspath(home / SOCKET)
    if len(os.fsencode(path)) <= LONGEST:
        yield path
        return
    if not os.path.isdir(_DESCRIPTORS):
        raise OSError(errno.ENAMETOOLONG, f"a socket's path has at most {LONGEST} bytes here", path)
    folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"{_DESCRIPTORS}/{folder}/{SOCKET}"
    finally:
        os.close(folder)
