"""How long somebody puts up with an API server that is in trouble: waits between tries, and an end to them."""

from __future__ import annotations

import math

import anyio

from engine.adapters.kubernetes.cluster import CallFailed
from engine.adapters.kubernetes.waits import Waits
from engine.model.errors import ErrorKind, Failure, Permanent


class GivenUp(Permanent):
    """The API server was in trouble for too long. What was asked of it may have had its effect all the same."""


class Patience:
    """Of one piece of work. `seconds`: of trouble without a break; 0 = without end.

    Trouble is no answer, or one that blames the server (5xx). A server that says "later" (429), that waits for a quota
    or contradicts itself for a moment (409) is at work: that is waited for without end, as FlytePropeller does.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds or math.inf
        self._since: float | None = None
        self._waits = Waits()

    def answered(self) -> None:
        """The server is at work."""
        self._since = None

    async def wait(self, problem: CallFailed, least_seconds: float) -> None:
        """Until the next try. Raises GivenUp."""
        now = anyio.current_time()
        if problem.answer.status and problem.answer.status < 500:
            self.answered()
        elif self._since is None:
            self._since = now
        elif now - self._since >= self._seconds:
            message = (
                f"its pod could not be made: the API server was in trouble for {now - self._since:.0f} s "
                f"(kubernetes.trouble_seconds is {self._seconds:g}); the last try: {problem}"
            )
            raise GivenUp(Failure("RuntimeFailure", ErrorKind.SYSTEM, message), recoverable=True)
        await self._waits.wait(least_seconds)
