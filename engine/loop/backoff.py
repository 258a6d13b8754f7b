"""Waiting longer and longer, with jitter, while something that may pass goes on."""

from __future__ import annotations

import random

from msgspec import Struct


class Backoff(Struct, frozen=True):
    first_seconds: float = 0.1
    max_seconds: float = 10.0
    jitter: float = 0.2
    """Share of the wait that is random, so that many waiters do not come back at once."""

    def seconds(self, failures: int) -> float:
        """How long to wait after so many failures in a row (1 = the first)."""
        wait: float = min(self.first_seconds * 2.0 ** min(failures - 1, 30), self.max_seconds)
        return wait * (1 + self.jitter * random.uniform(-1, 1))
