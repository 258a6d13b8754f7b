"""The time of day as the operating system tells it."""

from __future__ import annotations

import time


class SystemClock:
    """A Clock."""

    def now(self) -> float:
        return time.time()
