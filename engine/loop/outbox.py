"""What effects found out, on its way to the log; small news waits a moment for company.

The start of an attempt is small news: nobody acts on it. An attempt that succeeds within the moment is one event and
not two, and one that fails costs one turn and not two.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import anyio

from engine.model.events import AboutAttempt, AttemptStarted, AttemptSucceeded, Event
from engine.model.ids import AttemptKey

PATIENCE_SECONDS = 0.02
NAP_SECONDS = 0.005
LONGEST_SECONDS = 0.5
"""A busy engine keeps a start back for this long at most."""


class Outbox:
    def __init__(self, append: Callable[[Sequence[Event]], Awaitable[None]]) -> None:
        self._append = append
        self._held: dict[AttemptKey, AttemptStarted] = {}
        self._something = anyio.Event()

    def hold(self, started: AttemptStarted) -> None:
        """Send this before anything else that is sent of the attempt, and soon."""
        if not self._held:
            self._something.set()
        self._held[started.key] = started

    async def send(self, events: Sequence[Event]) -> None:
        await self._append([*self._before(events), *events] if self._held else events)

    def _before(self, events: Sequence[Event]) -> Sequence[Event]:
        """The starts of these attempts, of which their ends do not tell."""
        told = [(self._held.pop(event.key, None), event) for event in events if isinstance(event, AboutAttempt)]
        return [started for started, event in told if started is not None and not _tells_of(event, started)]

    async def run(self) -> None:
        """Send what has been held for long enough, for ever."""
        while True:
            await self._something.wait()
            await _moment()
            self._something = anyio.Event()
            if self._held:
                held, self._held = self._held, {}
                await self._append(list(held.values()))


async def _moment() -> None:
    """PATIENCE_SECONDS during which the loop is in time: one that has much to do needs more for the same."""
    left = PATIENCE_SECONDS
    now = anyio.current_time()
    longest = now + LONGEST_SECONDS
    while left > 0 and now < longest:
        await anyio.sleep(NAP_SECONDS)
        before, now = now, anyio.current_time()
        if now - before < 1.25 * NAP_SECONDS:
            left -= NAP_SECONDS


def _tells_of(event: Event, started: AttemptStarted) -> bool:
    """Whether the end of an attempt says all that its start said."""
    if not isinstance(event, AttemptSucceeded) or event.inputs_uri != started.inputs_uri:
        return False
    return event.cache is None and started.cache is None
