"""Waiting while Kafka is in trouble: longer and longer, for ever, unless it says that it will never be otherwise."""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from engine.adapters.kafka import faults
from engine.model.errors import LogFailed

FIRST_SECONDS = 0.05
LONGEST_SECONDS = 2.0

log = logging.getLogger(__name__)
T = TypeVar("T")


class Patience:
    """For one piece of work; `what` names it in the log."""

    def __init__(self, what: str) -> None:
        self._what, self._failures = what, 0

    async def wait(self, error: BaseException) -> None:
        """Raises LogFailed for what would only be refused again."""
        cause = faults.cause_of(error)
        if isinstance(cause, faults.FINAL):
            raise LogFailed(f"Kafka refuses {self._what}: {faults.describe(cause)}") from error
        self._failures += 1
        longest = min(FIRST_SECONDS * 2.0 ** min(self._failures - 1, 30), LONGEST_SECONDS)
        seconds = longest * random.uniform(0.5, 1)
        log.log(
            # Somebody else has the partition, which is how partitions move.
            logging.INFO if isinstance(cause, faults.FENCED) else logging.WARNING,
            "Kafka failed, will try again",
            extra={"what": self._what, "wait": seconds, "cause": faults.describe(cause), "failures": self._failures},
        )
        await anyio.sleep(seconds)


async def persist(what: str, work: Callable[[], Awaitable[T]]) -> T:
    """Do `work`, again and again while Kafka is in trouble. Raises LogFailed."""
    patience = Patience(what)
    while True:
        try:
            return await work()
        except faults.CLIENT_ERRORS as error:
            await patience.wait(error)
