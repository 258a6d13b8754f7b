"""The attempts of a runner by their keys: served in turn (see slots), stopped by key, never run twice at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import anyio

from engine.adapters.slots import Slots
from engine.model.errors import Transient
from engine.model.ids import AttemptKey, ExecutionId
from engine.ports.taskrunner import Exit, ExitReason

Started = Callable[[], None]
SIGTERM = 15


class Attempts:
    """What every runner does around the one thing that it does its own way.

    `slots`: attempts at once; None = any. `outlive`: what runs goes on when the call that watches it is cancelled.
    """

    def __init__(self, slots: int | None, *, outlive: bool = False) -> None:
        self._count, self._slots = slots, None if slots is None else Slots(slots)
        self._outlive = outlive
        self._attempts: dict[AttemptKey, _Attempt] = {}

    async def run(
        self,
        key: AttemptKey,
        started: Started,
        perform: Callable[[Started], Awaitable[Exit]],
        root: AttemptKey | None = None,
    ) -> Exit:
        """As TaskRunner.run. `perform` gets a slot first, calls what it is given once, and cleans up when cancelled.

        A second call for a key that is not at its end yet joins the first one, and cancelled ends it like the first,
        unless attempts outlive their calls: then Transient tells whoever has joined one that was cancelled.
        """
        if (attempt := self._attempts.get(key)) is not None:
            return await attempt.join(started)
        attempt = self._attempts[key] = _Attempt(started, self._outlive)
        try:
            with attempt.scope:
                if self._slots is None:
                    attempt.exit = await perform(attempt.begin)
                else:
                    attempt.queues = True
                    async with self._slots.one(root or key):
                        attempt.queues = False
                        attempt.exit = await perform(attempt.begin)
        finally:
            del self._attempts[key]
            attempt.gone.set()
        return attempt.outcome()

    async def stop(self, key: AttemptKey) -> None:
        """As TaskRunner.stop. An attempt that waits for a slot ends likewise."""
        if (attempt := self._attempts.get(key)) is not None:
            attempt.stopped = True
            attempt.scope.cancel()
            await attempt.gone.wait()

    def waits(self, execution: ExecutionId) -> dict[str, str]:
        """See engine.ports.waits: for a slot, or to begin."""
        slot = f"a free slot of the engine: all {self._count} are taken (processes.max_concurrent)"
        return {
            key.path: slot if attempt.queues else "its task to start"
            for key, attempt in self._attempts.items()
            if key.execution == execution and key.index is None and not attempt.begun
        }

    def __contains__(self, key: AttemptKey) -> bool:
        return key in self._attempts

    async def settle(self) -> None:
        """Wait until no attempt is left. They must be on their way to their ends."""
        for attempt in tuple(self._attempts.values()):
            await attempt.gone.wait()


class _Attempt:
    """From the first call of `run` to its end."""

    def __init__(self, started: Started, outlives: bool) -> None:
        self.stopped = False
        self.queues = False
        """It waits for a slot."""
        self._outlives = outlives
        self.scope = anyio.CancelScope()
        self.gone = asyncio.Event()
        self.exit: Exit | None = None
        self.begun = False
        self._to_tell = [started]

    def begin(self) -> None:
        self.begun = True
        for started in self._to_tell:
            started()

    async def join(self, started: Started) -> Exit:
        if self.begun:
            started()
        else:
            self._to_tell.append(started)
        if self._outlives:
            await self.gone.wait()
            return self.outcome()
        try:
            await self.gone.wait()
        finally:
            self.scope.cancel()
            with anyio.CancelScope(shield=True):
                await self.gone.wait()
        return self.outcome()

    def outcome(self) -> Exit:
        if self.exit is not None:
            return self.exit
        if self._outlives and not self.stopped:
            raise Transient("the call that watched this attempt was cancelled; the attempt goes on")
        if self.begun:
            return Exit(ExitReason.SIGNALLED, SIGTERM, "it was stopped by the engine")
        return Exit(ExitReason.NOT_STARTED, 0, "it was stopped before it began")
