"""Waiting while Kafka is in trouble: longer and longer, for ever, unless it says that it will never be otherwise.

The trouble is told twice: when it begins, and with all that has waited when it is over. Each try is told at INFO.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar
from weakref import WeakSet

import anyio

from engine.adapters.kafka import faults
from engine.model.errors import LogFailed

FIRST_SECONDS = 0.05
LONGEST_SECONDS = 2.0
MOST_NAMED = 50
"""Of what has waited, in one line."""

log = logging.getLogger(__name__)
T = TypeVar("T")


class Trouble:
    """What waits for Kafka in this process: a broker that is away is one trouble, and not one for each that waits."""

    def __init__(self) -> None:
        self._waiting: WeakSet[Patience] = WeakSet()
        """Those that were given up meanwhile leave by themselves."""
        self._seen: dict[str, None] = {}
        self._began = 0.0

    def begin(self, patience: Patience, cause: str) -> None:
        if not self._waiting:
            self._seen, self._began = {}, time.monotonic()
            log.warning(
                "Kafka is in trouble, will try again until it is over", extra={"what": patience.what, "cause": cause}
            )
        self._waiting.add(patience)
        self._seen[patience.what] = None

    def end(self, patience: Patience) -> None:
        self._waiting.discard(patience)
        if not self._waiting:
            named = ", ".join(list(self._seen)[:MOST_NAMED])
            more = f" and {len(self._seen) - MOST_NAMED} more" if len(self._seen) > MOST_NAMED else ""
            seconds = round(time.monotonic() - self._began, 1)
            log.warning("Kafka works again", extra={"seconds": seconds, "waited": f"{named}{more}"})


class Patience:
    """For one piece of work; `what` names it in the log."""

    _trouble = Trouble()

    def __init__(self, what: str) -> None:
        self.what, self._failures = what, 0
        self._is_told = False

    async def wait(self, error: BaseException) -> None:
        """Raises LogFailed for what would only be refused again."""
        cause = faults.cause_of(error)
        if isinstance(cause, faults.FINAL):
            raise LogFailed(f"Kafka refuses {self.what}: {faults.describe(cause)}") from error
        self._failures += 1
        longest = min(FIRST_SECONDS * 2.0 ** min(self._failures - 1, 30), LONGEST_SECONDS)
        seconds = longest * random.uniform(0.5, 1)
        # Where it is fenced, somebody else has the partition, which is how partitions move.
        if not self._is_told and not isinstance(cause, faults.FENCED):
            self._is_told = True
            self._trouble.begin(self, faults.describe(cause))
        log.info(
            "Kafka failed, will try again",
            extra={"what": self.what, "wait": seconds, "cause": faults.describe(cause), "failures": self._failures},
        )
        await anyio.sleep(seconds)

    def over(self) -> None:
        """It has worked; the next trouble is another one."""
        self._failures = 0
        if self._is_told:
            self._is_told = False
            self._trouble.end(self)


async def persist(what: str, work: Callable[[], Awaitable[T]]) -> T:
    """Do `work`, again and again while Kafka is in trouble. Raises LogFailed."""
    patience = Patience(what)
    while True:
        try:
            found = await work()
        except faults.CLIENT_ERRORS as error:
            await patience.wait(error)
        else:
            patience.over()
            return found
