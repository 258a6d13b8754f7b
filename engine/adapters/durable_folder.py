"""Makes a folder so that it is still there after a loss of power: a new entry must be synced in the folder above it."""

from __future__ import annotations

import os
from pathlib import Path


def make_durable(folder: Path) -> None:
    """Make a folder and those above it that are missing (blocking); syncs only what it made. Raises OSError."""
    folder = folder.absolute()
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        descriptor = os.open(each.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
