"""Hops 6 to 8: effects in flight. Each runs as a task of its own, can be cancelled by its key, and ends in events.

Launching the same effect twice is the same as once. What an effect finds out is appended to the log; nothing here
touches state. On a log that is the engine's alone most effects begin while the decision that asks for them is being
committed: until it is, they read and write the store and nothing else (`Services.decided`), so that a decision which
comes to nothing has started nothing.
"""

from __future__ import annotations

import logging
import time
from asyncio import CancelledError, Task
from asyncio import Event as Signal
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import partial

import anyio

from engine.loop.backoff import Backoff
from engine.loop.crew import Crew
from engine.loop.meter import Meter, Outcome
from engine.machine.handler import NodeHandler
from engine.model.effects import Effect, KeepOutputs, StopAttempt
from engine.model.errors import ErrorKind, Failure, LogFailed, Permanent, StoreFailed, Transient, shorten
from engine.model.events import AttemptFailed, AttemptStopped, Event
from engine.model.ids import AttemptKey
from engine.ports.concern import ATTEMPT
from engine.ports.services import Services

log = logging.getLogger(__name__)


_Identity = tuple[type[Effect], AttemptKey]
_COMMITTED: ContextVar[Signal | None] = ContextVar("committed", default=None)
"""Set once the decision for the effect at hand is committed; None: it is."""


async def decided() -> None:
    """Wait until the decision for the effect at hand is committed (`Services.decided`)."""
    committed = _COMMITTED.get()
    if committed is not None and not committed.is_set():
        await committed.wait()


_ACTS_AT_ONCE = (StopAttempt, KeepOutputs)
"""They ask others from the first."""


class _Flight:
    """One effect in flight."""

    __slots__ = ("again", "landed", "stopped", "task", "telling")

    def __init__(self) -> None:
        self.task: Task[None]
        self.telling = False
        """It is done, and what it found out is on its way to the log."""
        self.again: tuple[Effect, Signal | None] | None = None
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

    def begin(self, effects: Sequence[Effect], committed: Signal) -> Sequence[Effect]:
        """Start what may be prepared before its decision is `committed`; gives the others, to be launched then."""
        self._start((effect for effect in effects if not isinstance(effect, _ACTS_AT_ONCE)), committed)
        return [effect for effect in effects if isinstance(effect, _ACTS_AT_ONCE)]

    def launch(self, effects: Iterable[Effect]) -> None:
        """Start what is decided and committed."""
        self._start(effects, None)

    def _start(self, effects: Iterable[Effect], committed: Signal | None) -> None:
        for effect in () if self._idle else effects:
            identity = (type(effect), effect.key)
            if (known := self._flights.get(identity)) is not None:
                known.again = (effect, committed) if known.telling else None
                continue
            flight = self._flights[identity] = _Flight()
            flight.task = self._crew.start(self._fly(effect, flight, committed), partial(self._land, identity))

    async def _fly(self, effect: Effect, flight: _Flight, committed: Signal | None) -> None:
        ATTEMPT.set(effect.key)
        _COMMITTED.set(committed)
        if log.isEnabledFor(logging.INFO):
            log.info("effect", extra={"effect": type(effect).__name__, "key": str(effect.key)})
        try:
            events = await self.backoff.persist(partial(self._try, effect), effect.key)
            if committed is not None and not committed.is_set():
                await committed.wait()
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
            again, committed = flight.again
            self._start((again,), committed)

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
