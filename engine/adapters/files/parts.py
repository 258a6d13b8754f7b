"""Parts of stored files, appended to another file where they lie: no byte of them comes to the event loop.

All go through one small buffer, which stays in the processor's cache and is not allocated anew, as every object of its
own would be. It is written whenever the file has grown to a multiple of its size: pieces that lie so the system keeps
in few large pages, which is a quarter cheaper than pieces that lie anyhow.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence

from engine.adapters.files.disk import Disk
from engine.adapters.files.folders import Known
from engine.ports.blobstore import Part

BUFFER = 256 * 1024
"""Bytes."""
HEAD = 4096
"""Bytes of a file that `part` sees."""
AT_ONCE = 32 * 1024 * 1024
"""Bytes; after so many the thread is free for others."""


class Appender:
    """For one thread only: the buffer is there once."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._head, self._buffer = memoryview(bytearray(HEAD)), memoryview(bytearray(BUFFER))

    def append(self, descriptor: int, paths: Sequence[str], part: Part, known: Known) -> list[int]:
        """As `BlobWriter.append_from`. Raises OSError; what was appended by then is not whole."""
        sizes: list[int] = []
        end = _End(self._disk, descriptor, self._buffer)
        for path in paths:
            size = self._append(end, path, part, known) if end.taken < AT_ONCE else None
            if size is None:
                break
            sizes.append(size)
        end.flush()
        return sizes

    def _append(self, end: _End, path: str, part: Part, known: Known) -> int | None:
        """Bytes appended; None, and nothing is, where someone else is to read the file and say what is wrong."""
        try:
            source, size = self._disk.open(path, known)
        except OSError:
            return None
        try:
            head = self._head[: _read(source, self._head, 0, path)]
            found = part(head, size)
            if found is None:
                return None
            before, first, last = found
            end.put(before)
            end.copy(source, first, last, path)
            return len(before) + last - first
        finally:
            os.close(source)


class _End:
    """Of the file that grows."""

    def __init__(self, disk: Disk, descriptor: int, buffer: memoryview) -> None:
        self._disk, self._descriptor, self._buffer = disk, descriptor, buffer
        self._used, self._full = 0, BUFFER - os.lseek(descriptor, 0, os.SEEK_CUR) % BUFFER
        self.taken = 0
        """Bytes in all."""

    def put(self, data: bytes) -> None:
        while data:
            room = self._room(len(data))
            room[:] = data[: len(room)]
            data = data[len(room) :]
            self._grow(len(room))

    def copy(self, source: int, first: int, last: int, path: str) -> None:
        while first < last:
            found = _read(source, self._room(last - first), first, path)
            if not found:
                raise OSError(errno.EAGAIN, "it became shorter while it was read", path)
            first += found
            self._grow(found)

    def flush(self) -> None:
        self._disk.append(self._descriptor, self._buffer[: self._used])
        self._used, self._full = 0, BUFFER

    def _room(self, wanted: int) -> memoryview:
        if self._used == self._full:
            self.flush()
        return self._buffer[self._used : min(self._full, self._used + wanted)]

    def _grow(self, size: int) -> None:
        self._used += size
        self.taken += size


def _read(descriptor: int, room: memoryview, position: int, path: str) -> int:
    """Trouble with a file that is read must not look like trouble with the one that is written: it may pass."""
    try:
        return os.preadv(descriptor, [room], position)
    except OSError as error:
        raise OSError(errno.EAGAIN, f"it can't be read: {error.strerror}", path) from error
