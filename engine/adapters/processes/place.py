"""Where an attempt works: a fresh folder of its own as working and temporary folder, and the files of its output."""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

_FILE = "file://"


@dataclass(frozen=True, slots=True)
class Place:
    folder: Path
    """Gone when the attempt is."""
    logs: Path
    """Holds stdout.log and stderr.log: the attempt's folder of the store, if that is a local one, else `folder`."""

    @property
    def cwd(self) -> Path:
        return self.folder / "cwd"

    @property
    def tmp(self) -> Path:
        return self.folder / "tmp"

    @property
    def stdout(self) -> Path:
        return self.logs / "stdout.log"

    @property
    def stderr(self) -> Path:
        return self.logs / "stderr.log"


def is_local(prefix_uri: str) -> bool:
    return prefix_uri.startswith((_FILE, "/"))


def prepare(folder: Path, prefix_uri: str) -> Place:
    """Make the folders (blocking). Raises OSError."""
    logs = Path(prefix_uri.removeprefix(_FILE)) if is_local(prefix_uri) else folder
    place = Place(folder, logs)
    place.cwd.mkdir(parents=True)
    place.tmp.mkdir()
    logs.mkdir(parents=True, exist_ok=True)
    return place


def remove(folder: Path) -> None:
    """Delete a folder whatever a task did to it (blocking); what can't be deleted stays for the next start."""
    if not os.path.lexists(folder):
        return
    try:
        shutil.rmtree(folder)
    except OSError:
        _open_up(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _open_up(folder: Path) -> None:
    """A task may have taken away its own right to list or change its folders. Links lead out and are left alone."""
    for parent, folders, _ in os.walk(folder):
        for path in (os.path.join(parent, name) for name in folders):
            if not os.path.islink(path):
                with contextlib.suppress(OSError):
                    os.chmod(path, 0o700)
