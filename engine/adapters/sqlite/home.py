"""The home folder: the name of the log's file, and the lock that keeps a second engine out."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from engine.adapters.durable_folder import make_durable
from engine.model.errors import BadInput, HomeInUse

LOG_FILE = "log.db"
LOCK_FILE = "lock"


class HomeLock:
    """Held by one process at a time, let go by the kernel when that process ends in whatever way."""

    def __init__(self, home: Path) -> None:
        """Make the home if it is not there and take its lock. Raises HomeInUse, BadInput."""
        path = home / LOCK_FILE
        try:
            make_durable(home)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise BadInput(
                f"home {home} can't be used: {error.strerror} ({error.filename}); nothing was started"
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(self._file, 32, 0).decode(errors="replace").strip() or "(unknown)"
            os.close(self._file)
            raise HomeInUse(
                f"home {home} is in use by process {holder}; stop it or use another home; nothing was started"
            ) from error
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        os.close(self._file)
