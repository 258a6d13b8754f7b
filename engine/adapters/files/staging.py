"""Where objects are written before they appear: a folder of the process's own below the root; a rename publishes them.

The folder stays locked while its process lives. Whoever opens the store removes those that nobody locks: what a killed
process left behind. So no folder of results ever holds an unfinished file, and nothing has to be searched for them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
from contextlib import suppress
from itertools import count

from engine.adapters.blobkeys import TEMPORARY
from engine.adapters.files.folders import Known
from engine.adapters.files.removal import remove

LOCK = "lock"


class Staging:
    """Threads may share it."""

    def __init__(self, root: str) -> None:
        """Raises OSError."""
        self.folder, self._lock = _claim(root)
        self._numbers = count()

    def create(self) -> tuple[int, str]:
        """A new empty file: its descriptor and its path. Raises OSError."""
        path = f"{self.folder}/{next(self._numbers)}"
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666), path

    def close(self, known: Known) -> None:
        with suppress(OSError):
            remove(self.folder)
        os.close(self._lock)


class NoStaging(Staging):
    """For a store that is only read: it claims no folder, and nothing can be written."""

    def __init__(self) -> None:
        """Nothing to claim."""

    def create(self) -> tuple[int, str]:
        raise OSError(errno.EROFS, "the store was opened for reading only")

    def close(self, known: Known) -> None:
        """Nothing to give back."""


def sweep(root: str) -> None:
    """Remove what processes that are gone have left unfinished; what can't be removed does no harm. Raises OSError."""
    with os.scandir(root) as entries:
        left = [entry.path for entry in entries if entry.name.startswith(TEMPORARY)]
    for folder in left:
        with suppress(OSError):
            _sweep_one(folder)


def _sweep_one(folder: str) -> None:
    lock = _lock(folder)
    if lock is None:
        return
    try:
        remove(folder)
    finally:
        os.close(lock)


def _claim(root: str) -> tuple[str, int]:
    """Make and lock a folder; again, if a sweep came in between."""
    while True:
        folder = f"{root}/{TEMPORARY}{os.getpid()}-{secrets.token_hex(8)}"
        os.mkdir(folder)
        lock = _lock(folder)
        if lock is not None:
            return folder, lock


def _lock(folder: str) -> int | None:
    """A descriptor that holds the folder's lock, or None if another process holds it or has removed the folder.

    A file is locked and not the folder itself, because network file systems lock only what is open for writing.
    """
    path = f"{folder}/{LOCK}"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            return None
        raise
    if os.path.exists(path):
        return descriptor
    os.close(descriptor)
    return None
