"""Hops 6 to 8: effects in flight. Each runs as a task of its own, can be cancelled by its key, and ends in events.

Launching the same effect twice is the same as once. What an effect finds out is appended to the log; nothing here
touches state.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial

import anyio
from anyio.abc import TaskGroup

from engine.loop.backoff import Backoff
from engine.machine.handler import NodeHandler
from engine.model.effects import Effect, StopAttempt
from engine.model.errors import ErrorKind, Failure, LogFailed, Permanent, StoreFailed, Transient, shorten
from engine.model.events import AttemptFailed, AttemptStopped, Event
from engine.model.ids import AttemptKey
from engine.ports.services import Services

log = logging.getLogger(__name__)


class _Flight:
    """One effect in flight."""

    __slots__ = ("again", "landed", "scope", "telling")

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.landed = anyio.Event()
        self.telling = False
        """It is done, and what it found out is on its way to the log."""
        self.again: Effect | None = None
        """What followed from that asks for it once more."""


class Effects:
    """Performs effects in a task group that outlives every turn; leaving the group cancels what is in flight."""

    def __init__(
        self,
        group: TaskGroup,
        performers: Mapping[type[Effect], NodeHandler],
        services: Services,
        append: Callable[[Sequence[Event]], Awaitable[None]],
        backoff: Backoff,
        *,
        idle: bool = False,
    ) -> None:
        """`idle`: start none; they are still due for the next engine."""
        self._idle = idle
        self._group, self._performers, self._services = group, performers, services
        self._append, self.backoff = append, backoff
        self._flights: dict[tuple[type[Effect], AttemptKey], _Flight] = {}

    def launch(self, effects: Iterable[Effect]) -> None:
        for effect in () if self._idle else effects:
            identity = (type(effect), effect.key)
            if (known := self._flights.get(identity)) is not None:
                known.again = effect if known.telling else None
                continue
            flight = self._flights[identity] = _Flight()
            self._group.start_soon(self._fly, effect, flight)

    async def _fly(self, effect: Effect, flight: _Flight) -> None:
        events: Sequence[Event] = ()
        if log.isEnabledFor(logging.INFO):
            log.info("effect", extra={"effect": type(effect).__name__, "key": str(effect.key)})
        try:
            with flight.scope:
                events = await self.backoff.persist(partial(self._perform, effect), effect.key)
            flight.telling = True
            if events:
                await self._append(events)
        finally:
            del self._flights[(type(effect), effect.key)]
            flight.landed.set()
        if flight.again is not None:
            self.launch((flight.again,))

    async def _perform(self, effect: Effect) -> Sequence[Event]:
        if isinstance(effect, StopAttempt):
            return await self._stop(effect.key)
        try:
            return await self._performers[type(effect)].perform(effect, self._services)
        except Permanent as verdict:
            return (AttemptFailed(effect.key, verdict.failure, verdict.recoverable),)
        except (Transient, LogFailed, StoreFailed):
            # Tried again by the caller; or the engine stops, and a resume goes on from the last commit.
            raise
        except Exception as error:
            log.exception("effect raised", extra={"effect": type(effect).__name__, "key": str(effect.key)})
            message = shorten(f"{type(effect).__name__} raised {type(error).__name__}: {error}")
            return (AttemptFailed(effect.key, Failure("RuntimeExecutionError", ErrorKind.SYSTEM, message)),)

    async def _stop(self, key: AttemptKey) -> Sequence[Event]:
        """Cancel what else is in flight for this attempt, wait until it has landed, then make sure by the runner."""
        others = [flight for (kind, other), flight in self._flights.items() if other == key and kind is not StopAttempt]
        for flight in others:
            flight.scope.cancel()
        for flight in others:
            await flight.landed.wait()
        await self._services.runner.stop(key)
        return (AttemptStopped(key),)
