"""Where an attempt works: a fresh folder of its own as working and temporary folder, and the files of its output."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
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
    except (OSError, RecursionError):
        _flatten(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _flatten(folder: Path) -> None:
    """Open every folder and bring it up to the top.

    A task may have taken away its own right to list or change its folders, or nested them deeper than a path may be
    long. Links lead out and are left alone.
    """
    token, numbers = secrets.token_hex(8), itertools.count()
    waiting = [os.fspath(folder)]
    while waiting:
        path = waiting.pop()
        for inner in _opened(path):
            target = os.path.join(folder, f"{token}-{next(numbers)}") if path != os.fspath(folder) else inner
            with contextlib.suppress(OSError):
                os.rename(inner, target)
                waiting.append(target)


def _opened(path: str) -> list[str]:
    """The folders in a folder, all with every right of their owner's."""
    inner: list[str] = []
    with contextlib.suppress(OSError):
        with os.scandir(path) as entries:
            inner = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        for each in inner:
            os.chmod(each, 0o700)
    return inner
