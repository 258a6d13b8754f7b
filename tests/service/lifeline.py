"""A named pipe that processes hold open as long as they live: it ends at the moment when the last of them is gone."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

LIMIT_SECONDS = 30.0


class Lifeline:
    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self._descriptor = path, descriptor
        self._said = b""
        self._over = False

    def __str__(self) -> str:
        return str(self.path)

    async def says(self, *lines: str) -> None:
        """Wait until these lines have come, in any order."""
        wanted = sorted(lines)
        with anyio.fail_after(LIMIT_SECONDS):
            while sorted(self._said.decode().splitlines()) != wanted:
                assert await self._read(), f"everyone is gone; heard {self._said!r}, not {wanted}"

    def is_cut(self) -> bool:
        """Whether nobody holds the pipe open at this moment."""
        try:
            while data := os.read(self._descriptor, 65536):
                self._said += data
        except BlockingIOError:
            return False
        return True

    async def end(self) -> None:
        """Wait until nobody holds the pipe open any more."""
        with anyio.fail_after(LIMIT_SECONDS):
            while await self._read():
                pass

    async def _read(self) -> bool:
        if not self._over:
            await anyio.wait_readable(self._descriptor)
            data = os.read(self._descriptor, 65536)
            self._said, self._over = self._said + data, not data
        return not self._over


@asynccontextmanager
async def lifeline(folder: Path) -> AsyncIterator[Lifeline]:
    path = folder / "lifeline"
    os.mkfifo(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield Lifeline(path, descriptor)
    finally:
        os.close(descriptor)
