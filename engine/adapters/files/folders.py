"""Folders on the way to an object: each must be a real one, never a link that a task laid in its output folder.

Every part below the root is looked at (lstat) in each group of calls, and the object itself is opened without
following. A link made in the instant between the look and the open is followed; that is as safe as it needs to be,
because a task that could do so runs with the engine's own rights on the same files.
"""

from __future__ import annotations

import errno
import os
import stat

Known = set[str]
"""Folders found real since the group of calls began: what one call has checked, the next one need not check again."""


def find(root: str, folder: str, known: Known) -> None:
    """Raises OSError: ENOENT or ENOTDIR if `folder` is not there, ELOOP naming the link if one stands in its path."""
    if folder in known:
        return
    for part in _unknown(root, folder, known):
        _look(part)
        known.add(part)


def make(root: str, folder: str, known: Known) -> None:
    """The same, but folders that are missing are made."""
    if folder in known:
        return
    missing = False
    for part in _unknown(root, folder, known):
        # Mostly the last one is missing; and below a missing one nothing can be there.
        missing = missing or part == folder or not _is_there(part)
        if missing:
            _make(part)
        known.add(part)


def _is_there(folder: str) -> bool:
    try:
        _look(folder)
    except FileNotFoundError:
        return False
    return True


def above(root: str, path: str) -> list[str]:
    """The folders from the one that holds `path` up to the root, which is the last."""
    found = []
    while path != root:
        path = os.path.dirname(path)
        found.append(path)
    return found


def _unknown(root: str, folder: str, known: Known) -> list[str]:
    """Outermost first."""
    parts = []
    while folder != root and folder not in known:
        parts.append(folder)
        folder = folder[: folder.rindex("/")]
    parts.reverse()
    return parts


def _look(folder: str) -> None:
    mode = os.lstat(folder).st_mode
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "a link", folder)
    if not stat.S_ISDIR(mode):
        raise OSError(errno.ENOTDIR, "not a folder", folder)


def _make(folder: str) -> None:
    try:
        os.mkdir(folder)
    except FileExistsError:
        _look(folder)
