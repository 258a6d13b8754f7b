"""An attempt whose result may be there already: looked up before it runs, kept after it has succeeded.

A cache that is down never fails an attempt: the task runs, and its facts say what went wrong.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

import anyio
from msgspec import structs

from engine.data.framing import CorruptMessage, framed_size
from engine.data.kept import self_contained
from engine.data.literals import entries
from engine.data.recent import read_maps, remember
from engine.data.references import find_references
from engine.data.together import accompanied
from engine.model import layout
from engine.model.cache import CacheKey, CacheStatus
from engine.model.effects import KeepOutputs, RunElement, RunTask
from engine.model.errors import BlobNotFound, Permanent, StoreFailed, StoreRefused, Transient
from engine.model.events import AttemptFailed, AttemptPlanned, AttemptStarted, AttemptSucceeded
from engine.model.ids import AttemptKey
from engine.ports.cache import CacheEntry
from engine.ports.services import Services

log = logging.getLogger(__name__)
Ended = AttemptSucceeded | AttemptFailed | AttemptPlanned
Attempt = Callable[[Services], Awaitable[Ended]]
"""Runs the attempt with these services."""
RELEASE_SECONDS = 5.0
"""The longest that giving back a reservation may take; after that it ends by itself."""
_TROUBLE = (BlobNotFound, CorruptMessage, Permanent, StoreFailed, StoreRefused, Transient)


async def through_cache(
    services: Services, effect: RunTask | RunElement, find_key: Callable[[], Awaitable[CacheKey]], attempt: Attempt
) -> Ended:
    """The kept result as the end of this attempt, with nothing started; else the attempt's own end, which is kept.

    Raises what `attempt` raises, and Transient where a kept result can't be put into the attempt's folder.
    """
    job = _Job(services, effect)
    try:
        key = await find_key()
    except _TROUBLE as problem:
        _warn(effect.key, "the cache key of an attempt can't be made; it runs", problem)
        return await job.run(attempt, CacheStatus.LOOKUP_FAILURE)
    return await job.perform(key, attempt)


class _Job:
    def __init__(self, services: Services, effect: RunTask | RunElement) -> None:
        self.services, self.effect = services, effect
        self.blobs = services.blobs
        self.declared = tuple(effect.task.interface.outputs)

    async def perform(self, key: CacheKey, attempt: Attempt) -> Ended:
        await self.services.decided()
        entry, status = await self._look_up(key)
        if entry is not None:
            return await self._use(entry)
        policy = self.effect.spec.cache
        if policy is not None and policy.serialize:
            return await self._alone(key, attempt)
        return await self._run_and_keep(key, attempt, status)

    async def _alone(self, key: CacheKey, attempt: Attempt) -> Ended:
        """Once nobody else makes this result: use what they have made, or make it."""
        try:
            reservation = await self.services.cache.reserve(key, str(self.effect.key))
        except _TROUBLE as problem:
            _warn(self.effect.key, "the cache reserves nothing; the attempt runs beside others", problem)
            return await self._run_and_keep(key, attempt, CacheStatus.LOOKUP_FAILURE)

        async def work() -> Ended:
            entry, status = await self._look_up(key)
            return await self._use(entry) if entry is not None else await self._run_and_keep(key, attempt, status)

        try:
            return await accompanied(work, reservation.hold)
        finally:
            with anyio.move_on_after(RELEASE_SECONDS, shield=True):
                await reservation.release()

    async def _run_and_keep(self, key: CacheKey, attempt: Attempt, status: CacheStatus) -> Ended:
        ended = await self.run(attempt, status)
        if isinstance(ended, AttemptSucceeded):
            # A map task declares lists; an element's own type stands with its references.
            types = self.effect.task.interface.outputs if ended.key.index is None else {}
            return structs.replace(ended, cache=await _keep(self.services, key, ended.key, ended.outputs_uri, types))
        return ended

    async def run(self, attempt: Attempt, status: CacheStatus) -> Ended:
        """Run the attempt; its start and its end say what the cache had to say before."""

        def report(started: AttemptStarted) -> None:
            self.services.report(structs.replace(started, cache=status))

        ended = await attempt(replace(self.services, report=report))
        return ended if isinstance(ended, AttemptPlanned) else structs.replace(ended, cache=status)

    async def _look_up(self, key: CacheKey) -> tuple[CacheEntry | None, CacheStatus]:
        """What is kept and whole, else why there is nothing."""
        if self.effect.origin.overwrite_cache:
            return None, CacheStatus.SKIPPED
        try:
            entry = await self.services.cache.find(key)
            if entry is not None and await self._is_whole(entry):
                return entry, CacheStatus.HIT
        except _TROUBLE as problem:
            _warn(self.effect.key, "the cache can't be asked; the attempt runs", problem)
            return None, CacheStatus.LOOKUP_FAILURE
        return None, CacheStatus.MISS

    async def _is_whole(self, entry: CacheEntry) -> bool:
        """Whether it has all outputs, and the values that they refer to are still there."""
        if not entries(entry.outputs).keys() >= set(self.declared):
            return False
        return all([await self.blobs.size(found.uri) is not None for found in find_references(entry.outputs)])

    async def _use(self, entry: CacheEntry) -> AttemptSucceeded:
        """Put the kept outputs where those of this attempt would be: who comes after looks there, and nowhere else."""
        attempt = self.effect.key
        if self.effect.resumed:
            # An attempt that an engine left running has nothing to do any more.
            await self.services.runner.stop(attempt)
        uri = self.blobs.uri(layout.outputs(attempt))
        await self.blobs.put(uri, entry.outputs)
        remember(self.blobs, uri, entry.outputs)
        sizes = {}
        if attempt.index is not None:
            literals = entries(entry.outputs)
            sizes = {name: framed_size(len(literals[name])) for name in self.declared}
        status = CacheStatus.POPULATED if entry.source == attempt else CacheStatus.HIT
        return AttemptSucceeded(attempt, uri, sizes, status)


async def keep_outputs(
    services: Services, effect: KeepOutputs, find_key: Callable[[], Awaitable[CacheKey]]
) -> CacheStatus:
    """Keep the outputs of a graph that a task had planned."""
    try:
        key = await find_key()
    except _TROUBLE as problem:
        _warn(effect.key, "the cache key of an attempt can't be made; its result is not kept", problem)
        return CacheStatus.PUT_FAILURE
    return await _keep(services, key, effect.key, effect.outputs_uri, effect.task.interface.outputs)


async def _keep(
    services: Services, key: CacheKey, attempt: AttemptKey, outputs_uri: str, types: Mapping[str, bytes]
) -> CacheStatus:
    blobs = services.blobs
    try:
        outputs = (await read_maps(blobs, [outputs_uri]))[outputs_uri]
        if outputs is None:
            raise BlobNotFound(outputs_uri)
        kept = await self_contained(blobs, outputs, types, layout.cached_values(key, attempt))
        await services.cache.keep(key, CacheEntry(kept, attempt, services.clock.now()))
    except _TROUBLE as problem:
        _warn(attempt, "the result of an attempt can't be kept", problem)
        return CacheStatus.PUT_FAILURE
    return CacheStatus.POPULATED


def _warn(attempt: AttemptKey, what: str, problem: Exception) -> None:
    log.warning(what, extra={"key": str(attempt), "cause": str(problem)})
