"""Rung when something that no event tells of has changed outside: the activation of a launch plan."""

from __future__ import annotations

import anyio


class Bell:
    def __init__(self) -> None:
        self._rung = anyio.Event()

    def ring(self) -> None:
        self._rung.set()

    async def heard(self) -> None:
        """Wait until it was rung since the last call returned."""
        await self._rung.wait()
        self._rung = anyio.Event()
