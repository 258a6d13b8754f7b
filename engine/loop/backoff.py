"""Waiting longer and longer, with jitter, while something that may pass goes on."""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from msgspec import Struct

from engine.model.errors import Transient

log = logging.getLogger(__name__)
T = TypeVar("T")


class Backoff(Struct, frozen=True):
    first_seconds: float = 0.1
    max_seconds: float = 10.0
    jitter: float = 0.2
    """Share of the wait that is random, so that many waiters do not come back at once."""

    def seconds(self, failures: int) -> float:
        """How long to wait after so many failures in a row (1 = the first)."""
        wait: float = min(self.first_seconds * 2.0 ** min(failures - 1, 30), self.max_seconds)
        return wait * (1 + self.jitter * random.uniform(-1, 1))

    async def persist(self, work: Callable[[], Awaitable[T]], what: object) -> T:
        """Do `work`, again and again while only passing trouble (Transient) is in the way."""
        failures = 0
        while True:
            try:
                return await work()
            except Transient as trouble:
                failures += 1
                wait = self.seconds(failures)
                log.warning("failed, will try again", extra={"what": str(what), "wait": wait, "cause": str(trouble)})
                await anyio.sleep(wait)
