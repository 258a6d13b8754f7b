"""Remove a file or a whole folder. Links are removed, never followed: every step goes through an open folder."""

from __future__ import annotations

import errno
import os
import stat

ROUNDS = 5
"""How often a folder is emptied while something still writes into it, before that is an error."""


def remove(path: str) -> None:
    """No error if there is nothing. Raises OSError, ENOTEMPTY if the folder keeps filling up."""
    try:
        os.unlink(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    except (IsADirectoryError, PermissionError):
        # A folder: Linux says EISDIR, macOS EPERM.
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise
        _remove_folder(path, None)


def _remove_folder(name: str, parent: int | None) -> None:
    for _ in range(ROUNDS):
        try:
            _empty(name, parent)
            os.rmdir(name, dir_fd=parent)
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        else:
            return
    raise OSError(errno.ENOTEMPTY, "something keeps writing into it", name)


def _empty(name: str, parent: int | None) -> None:
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    _remove_folder(entry.name, folder)
                else:
                    _unlink(entry.name, folder)
    finally:
        os.close(folder)


def _unlink(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
