"""Waits between tries of the same thing: longer and longer, a little by chance, so that many do not come together."""

from __future__ import annotations

import random

import anyio


class Waits:
    def __init__(self, first_seconds: float = 0.5, longest_seconds: float = 20.0) -> None:
        self._first, self._longest = first_seconds, longest_seconds
        self._next = first_seconds

    async def wait(self, least_seconds: float = 0.0) -> None:
        await anyio.sleep(max(self.next(), least_seconds))

    def next(self) -> float:
        seconds, self._next = self._next, min(2 * self._next, self._longest)
        return seconds * random.uniform(0.8, 1.2)

    def again(self) -> None:
        """Begin with the short ones."""
        self._next = self._first
