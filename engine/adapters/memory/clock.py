"""The time of day as the event loop counts it, so that a fake loop clock (looptime) owns it."""

from __future__ import annotations

import asyncio

START = 1_700_000_000.0
"""Seconds since the epoch at which a loop whose clock starts at 0 begins."""


class LoopClock:
    """A Clock. Works only inside a running event loop."""

    def __init__(self, start: float = START) -> None:
        self._start = start

    def now(self) -> float:
        return self._start + asyncio.get_running_loop().time()
