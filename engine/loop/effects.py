"""Hops 6 to 8: effects in flight. Each runs as a task of its own, can be cancelled by its key, and ends in events.

Launching the same effect twice is the same as once. What an effect finds out is appended to the log; nothing here
touches state.
"""

from __future__ import annotations

import logging
import time
from asyncio import CancelledError, Task
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial

import anyio

from engine.loop.backoff import Backoff
from engine.loop.crew import Crew
from engine.loop.meter import Meter, Outcome
from engine.machine.handler import NodeHandler
from engine.model.effects import Effect, StopAttempt
from engine.model.errors import ErrorKind, Failure, LogFailed, Permanent, StoreFailed, Transient, shorten
from engine.model.events import AttemptFailed, AttemptStopped, Event
from engine.model.ids import AttemptKey
from engine.ports.concern import ATTEMPT
from engine.ports.services import Services

log = logging.getLogger(__name__)


_Identity = tuple[type[Effect], AttemptKey]


class _Flight:
    """One effect in flight."""

    __slots__ = ("again", "landed", "stopped", "task", "telling")

    def __init__(self) -> None:
        self.task: Task[None]
        self.telling = False
        """It is done, and what it found out is on its way to the log."""
        self.again: Effect | None = None
        """What followed from that asks for it once more."""
        self.stopped = False
        self.landed: anyio.Event | None = None
        """Made by the first who waits for it."""

    def stop(self) -> anyio.Event:
        """Cancel it, if it is not done; gives the event that is set when it has landed."""
        self.landed = self.landed or anyio.Event()
        if not self.telling:
            self.stopped = True
            self.task.cancel()
        return self.landed


class Effects:
    """Performs effects, each in a task of its own, by a crew that outlives every turn."""

    def __init__(
        self,
        crew: Crew,
        performers: Mapping[type[Effect], NodeHandler],
        services: Services,
        append: Callable[[Sequence[Event]], Awaitable[None]],
        backoff: Backoff,
        *,
        idle: bool = False,
        meter: Meter | None = None,
    ) -> None:
        """`idle`: start none; they are still due for the next engine."""
        self._idle = idle
        self._crew, self._performers, self._services = crew, performers, services
        self._append, self.backoff = append, backoff
        self.meter = meter
        self._try = self._perform if meter is None else partial(self._measured, meter)
        self._flights: dict[_Identity, _Flight] = {}

    def launch(self, effects: Iterable[Effect]) -> None:
        for effect in () if self._idle else effects:
            identity = (type(effect), effect.key)
            if (known := self._flights.get(identity)) is not None:
                known.again = effect if known.telling else None
                continue
            flight = self._flights[identity] = _Flight()
            flight.task = self._crew.start(self._fly(effect, flight), partial(self._land, identity))

    async def _fly(self, effect: Effect, flight: _Flight) -> None:
        ATTEMPT.set(effect.key)
        if log.isEnabledFor(logging.INFO):
            log.info("effect", extra={"effect": type(effect).__name__, "key": str(effect.key)})
        try:
            events = await self.backoff.persist(partial(self._try, effect), effect.key)
            flight.telling = True
            if events:
                await self._append(events)
        except CancelledError:
            if not flight.stopped:
                raise

    def _land(self, identity: _Identity) -> None:
        flight = self._flights.pop(identity)
        if flight.landed is not None:
            flight.landed.set()
        if flight.again is not None:
            self.launch((flight.again,))

    async def _measured(self, meter: Meter, effect: Effect) -> Sequence[Event]:
        outcome: Outcome = "error"
        began = time.perf_counter()
        try:
            events = await self._perform(effect)
            outcome = "failed" if any(isinstance(event, AttemptFailed) for event in events) else "done"
            return events
        except Transient:
            outcome = "retried"
            raise
        except CancelledError:
            outcome = "stopped"
            raise
        finally:
            meter.performed(effect, outcome, time.perf_counter() - began)

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
        others = [flight for kind in self._performers if (flight := self._flights.get((kind, key))) is not None]
        for landed in [flight.stop() for flight in others]:
            await landed.wait()
        await self._services.runner.stop(key)
        return (AttemptStopped(key),)
