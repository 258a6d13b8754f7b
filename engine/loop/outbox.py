"""What effects found out, on its way to the log; small news waits a moment for company.

The start of an attempt is small news: nobody acts on it. An attempt that ends within the moment costs one turn and
not two.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import anyio

from engine.model.events import Event

PATIENCE_SECONDS = 0.005


class Outbox:
    def __init__(self, append: Callable[[Sequence[Event]], Awaitable[None]]) -> None:
        self._append = append
        self._held: list[Event] = []
        self._something = anyio.Event()

    def hold(self, events: Sequence[Event]) -> None:
        """Send these before anything that is sent later, and within PATIENCE_SECONDS."""
        self._held.extend(events)
        self._something.set()

    async def send(self, events: Sequence[Event]) -> None:
        held, self._held = self._held, []
        await self._append([*held, *events])

    async def run(self) -> None:
        """Send what has been held for long enough, for ever."""
        while True:
            await self._something.wait()
            await anyio.sleep(PATIENCE_SECONDS)
            self._something = anyio.Event()
            if self._held:
                await self.send(())
