"""Keeps what a task prints: the head and the tail of a stream, in one file, in constant memory.

Standard library only: it runs inside the zygote, in the author's Python.
"""

from __future__ import annotations

import os


class Capture:
    """One stream of one attempt, written to `path` byte by byte as it came.

    Up to `limit` bytes the file is the stream. Beyond that the first half stays, the second half of the file becomes a
    ring that holds the newest bytes, and `close` puts the ring in order behind a line that says how much was cut. A
    file that can't be written (disk full) loses bytes, never the task: `problem` says why.
    """

    def __init__(self, path: str, limit: int) -> None:
        self._head = limit // 2
        self._ring = limit - self._head
        self.total = 0
        """Bytes seen so far."""
        self.problem = ""
        self._file = -1
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        except OSError as error:
            self.problem = str(error)

    def write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            place = self._place(self.total)
            end = self._head if place < self._head else self._head + self._ring
            piece = rest[: end - place]
            self._put(piece, place)
            self.total += len(piece)
            rest = rest[len(piece) :]

    def close(self) -> None:
        """Put the file in order and let go of it; its size is then at most the limit and one line."""
        cut = self.total - self._head - self._ring
        if cut > 0:
            start = self._place(self.total) - self._head
            ring = self._get(self._ring, self._head)
            mark = f"\n[... {cut} bytes cut here ...]\n".encode()
            self._put(memoryview(mark + ring[start:] + ring[:start]), self._head)
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def last(self, size: int) -> bytes:
        """The newest bytes, at most `size`; to be asked for before `close`."""
        size = min(size, self.total, self._ring)
        end = self._place(self.total - 1) + 1 if self.total else 0
        begin = end - size
        if begin >= self._head or self.total <= self._head + self._ring:
            return self._get(size, begin)
        wrapped = self._head - begin
        return self._get(wrapped, self._head + self._ring - wrapped) + self._get(end - self._head, self._head)

    def _place(self, position: int) -> int:
        """Where in the file the byte at `position` of the stream goes."""
        return position if position < self._head else self._head + (position - self._head) % self._ring

    def _put(self, data: memoryview, place: int) -> None:
        if self._file < 0 or self.problem:
            return
        try:
            while data:
                written = os.pwrite(self._file, data, place)
                data, place = data[written:], place + written
        except OSError as error:
            self.problem = str(error)

    def _get(self, size: int, place: int) -> bytes:
        try:
            return os.pread(self._file, size, place) if self._file >= 0 else b""
        except OSError as error:
            self.problem = self.problem or str(error)
            return b""
