"""What the threads do: blocking calls on checked paths. Everything here raises OSError."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from engine.adapters import blobkeys
from engine.adapters.files import folders
from engine.adapters.files.folders import Known
from engine.adapters.files.removal import remove
from engine.adapters.files.staging import Staging

# O_NONBLOCK: the open of a pipe that a task made must not wait for its other end.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
PIECES = 1024
"""What the system writes in one call: IOV_MAX."""
JOINED = 4096
"""Bytes; pieces that are smaller, on the average, are copied together."""
ATTEMPTS = 3
"""How often an object is put in place while someone removes its folder."""


Problem = tuple[int | None, str, str | None]
"""Number, text and file name of an OSError."""
TOO_LARGE: Problem = (errno.EFBIG, "", None)


class Disk:
    """`at_most`: bytes; it reads no slice that is larger."""

    def __init__(self, root: str, staging: Staging, *, durable: bool, at_most: int = sys.maxsize) -> None:
        self.root, self._staging, self._durable, self._at_most = root, staging, durable, at_most

    def read(self, path: str, start: int, end: int | None, at_most: int | None, known: Known) -> bytes | None:
        """The bytes of a slice, or None if there are more than `at_most`."""
        descriptor, size = self.open(path, known)
        try:
            first, last, _ = slice(start, end).indices(size)
            wanted = max(last - first, 0)
            if at_most is not None and wanted > min(at_most, self._at_most):
                return None
            return _read(descriptor, wanted, first)
        finally:
            os.close(descriptor)

    def open(self, path: str, known: Known) -> tuple[int, int]:
        """A plain file to be read, and its size."""
        folders.find(self.root, _folder(path), known)
        descriptor = os.open(path, _READ)
        try:
            return descriptor, _size(os.fstat(descriptor), path)
        except BaseException:
            os.close(descriptor)
            raise

    def read_all(
        self, paths: Sequence[str], end: int | None, at_most: int, known: Known
    ) -> list[bytes | Problem | None]:
        """The beginnings of many files; None where there is none, and for each of the others why it can't be had."""
        found: list[bytes | Problem | None] = []
        for path in paths:
            try:
                data = self.read(path, 0, end, at_most, known)
                found.append(TOO_LARGE if data is None else data)
            except FileNotFoundError:
                found.append(None)
            except OSError as error:
                found.append(problem_of(error))
        return found

    def size(self, path: str, known: Known) -> int:
        folders.find(self.root, os.path.dirname(path), known)
        return _size(os.lstat(path), path)

    def write(self, path: str, data: bytes | memoryview, durable: bool, known: Known) -> None:
        """Write or replace an object."""
        descriptor, temporary = self._staging.create()
        try:
            try:
                self.append(descriptor, data)
                self.settle(descriptor, durable=durable)
            finally:
                os.close(descriptor)
            self.publish(temporary, path, known, durable=durable)
        except BaseException:
            remove(temporary)
            raise

    def create_object(self, path: str, data: bytes, known: Known) -> None:
        """Write an object that is not there yet, durably. Raises FileExistsError."""
        descriptor, temporary = self._staging.create()
        try:
            try:
                self.append(descriptor, data)
                self.settle(descriptor, durable=True)
            finally:
                os.close(descriptor)
            self.publish(temporary, path, known, durable=True, replace=False)
        finally:
            remove(temporary)

    def create(self) -> tuple[int, str]:
        """A temporary file to append to, then `settle`, close and `publish`."""
        return self._staging.create()

    def append(self, descriptor: int, data: bytes | bytearray | memoryview) -> None:
        """Write all of it, however little the system takes at a time."""
        written = os.write(descriptor, data)
        if written < len(data):
            rest = memoryview(data).cast("B")[written:]
            while rest:
                rest = rest[os.write(descriptor, rest) :]

    def append_all(self, descriptor: int, pieces: Sequence[bytes | memoryview]) -> None:
        """The same for many pieces, with few system calls and without copying those that are large."""
        if sum(map(len, pieces)) < JOINED * len(pieces):
            pieces = [b"".join(pieces)]
        for first in range(0, len(pieces), PIECES):
            part = pieces[first : first + PIECES]
            written = os.writev(descriptor, part)
            if written < sum(map(len, part)):
                self.append(descriptor, memoryview(b"".join(part))[written:])

    def settle(self, descriptor: int, *, durable: bool = False) -> None:
        if durable or self._durable:
            os.fsync(descriptor)

    def publish(
        self,
        temporary: str,
        path: str,
        known: Known,
        *,
        durable: bool = False,
        replace: bool = True,
    ) -> None:
        """Let a finished temporary file appear under its name. Raises FileExistsError unless it may replace another."""
        for attempt in range(ATTEMPTS):
            try:
                folders.make(self.root, _folder(path), known)
                # Named here and not as a default, so that a test may stand between the two names.
                (os.rename if replace else os.link)(temporary, path)
                break
            except FileNotFoundError:
                known.clear()
                if attempt == ATTEMPTS - 1:
                    raise
        if durable or self._durable:
            for folder in folders.above(self.root, path):
                _sync_folder(folder)

    def is_there(self, path: str, known: Known) -> bool:
        try:
            folders.find(self.root, os.path.dirname(path), known)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return os.path.lexists(path)

    def remove(self, path: str, known: Known) -> None:
        """The object and everything below it; no error if there is nothing."""
        if self.is_there(path, known):
            remove(path)

    def walk(self, folder: str) -> Generator[str, None, None]:
        """Paths of the objects below a folder, links left out; nothing if it is not there."""
        try:
            folders.find(self.root, folder, set())
        except (FileNotFoundError, NotADirectoryError):
            return
        yield from _walk(folder, blobkeys.KEY_LIMIT + len(self.root.encode()))


def problem_of(error: OSError) -> Problem:
    return error.errno, error.strerror or str(error), error.filename


def run(disk: Disk, errand: tuple[Any, ...], known: Known) -> Any:
    """Do what is said as plain data: a name of OPERATIONS, and its arguments."""
    operation, *arguments = errand
    return OPERATIONS[operation](disk, *arguments, known)


OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "read": Disk.read,
    "read_all": Disk.read_all,
    "size": Disk.size,
    "is_there": Disk.is_there,
    "write": Disk.write,
    "create_object": Disk.create_object,
}


def _folder(path: str) -> str:
    """What os.path.dirname gives for a path that was checked."""
    return path[: path.rindex("/")]


def _walk(folder: str, limit: int) -> Generator[str, None, None]:
    try:
        entries = os.scandir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        for entry in entries:
            if blobkeys.wrong_part(entry.name) or len(os.fsencode(entry.path)) > limit:
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path, limit)
            elif entry.is_file(follow_symlinks=False):
                yield entry.path


def _read(descriptor: int, wanted: int, offset: int) -> bytes:
    data = os.pread(descriptor, wanted, offset)
    if len(data) == wanted:
        return data
    parts = [data]
    while parts[-1] and (wanted := wanted - len(parts[-1])):
        offset += len(parts[-1])
        parts.append(os.pread(descriptor, wanted, offset))
    return b"".join(parts)


def _size(found: os.stat_result, path: str) -> int:
    if stat.S_ISREG(found.st_mode):
        return found.st_size
    if stat.S_ISDIR(found.st_mode):
        raise OSError(errno.EISDIR, "a folder", path)
    raise OSError(errno.ELOOP if stat.S_ISLNK(found.st_mode) else errno.EINVAL, "not a plain file", path)


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
