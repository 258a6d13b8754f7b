"""Requests of people: what they name is looked up before a turn, they are decided in it, their values written with it.

Everything that is read (the registry, a package, inputs in the store) is read by `fetch`. What a request becomes is
then decided without waiting, in the order of the log. What it gives is in the store before the turn is committed.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import msgspec
from msgspec import UNSET, Struct

from engine.loop.atonce import all_of
from engine.loop.backoff import Backoff
from engine.loop.ledger import Ledger
from engine.loop.taken import Taken
from engine.machine import requests
from engine.machine.execution import ExecutionState
from engine.model import layout
from engine.model.errors import BadInput, EngineError, LogFailed, StoreFailed
from engine.model.events import ExecutionSubmitted, SignalSet
from engine.model.ids import ExecutionId
from engine.model.requests import ExecutionRequested, SignalGiven
from engine.model.runnable import Runnable
from engine.model.state import Execution, Fact
from engine.ports.blobstore import BlobStore
from engine.ports.clock import Clock
from engine.ports.eventlog import Record
from engine.wire.answers import Approval, fitting_literal
from engine.wire.inputs import from_elsewhere, inputs_for
from engine.wire.overriding import refuse_bad
from engine.wire.publicform import REQUEST_BYTES, fingerprint, refuse_odd
from engine.wire.sizes import refuse_large

LARGEST_INPUTS = 64 * 1024 * 1024
"""Bytes of inputs that are given by their URI: they are read and checked. Larger values are offloaded or files."""

log = logging.getLogger(__name__)
FindTarget = Callable[[ExecutionRequested], Awaitable[Runnable]]
"""What a request names, ready to be run. Raises BadInput, Transient and others of EngineError."""


class _Found(Struct, frozen=True):
    """What was read for one request."""

    target: Runnable | None = None
    inputs: bytes | None = None
    """Those that `inputs_uri` names."""
    problem: str = ""


class Requests:
    def __init__(self, find: FindTarget, blobs: BlobStore, clock: Clock, backoff: Backoff) -> None:
        self._find, self._blobs, self._clock, self._backoff = find, blobs, clock, backoff
        self._found: dict[int, _Found] = {}
        """By the offsets of this turn's records."""

    async def fetch(self, records: Sequence[Record], is_known: Callable[[ExecutionId], bool]) -> None:
        """Read what the requests of a batch need. Raises LogFailed, StoreFailed."""
        self._found.clear()
        named: dict[tuple[str, ...], list[tuple[int, ExecutionRequested]]] = {}
        for record in records:
            asked = record.event
            if not isinstance(asked, ExecutionRequested) or is_known(asked.execution) or _odd(asked, record):
                continue
            place = (asked.execution.project, asked.execution.domain, asked.entity, asked.package)
            named.setdefault(place, []).append((record.offset, asked))
        await all_of([partial(self._look_up, requests) for requests in named.values()])
        given = [one for requests in named.values() for one in requests if one[1].inputs_uri]
        await all_of([partial(self._read_inputs, *one) for one in given])

    def packages(self) -> set[str]:
        """Digests of the programs that are needed, after `fetch`."""
        return {found.target.package for found in self._found.values() if found.target is not None}

    def submission(
        self, record: Record, asked: ExecutionRequested, known: Execution | None, ledger: Ledger
    ) -> ExecutionSubmitted | Fact:
        """What becomes of a request: the machine's event, or the answer. `known`: who has the name."""
        now = self._clock.now()
        try:
            refuse_odd(asked, len(record.raw))
            refuse_bad(asked.overrides)
            digest = fingerprint(asked)
            if known is not None:
                if known.request == digest:
                    return requests.told(asked, known, now)
                raise BadInput(requests.taken(asked.execution, known))
            return self._accept(self._found.get(record.offset, _Found()), asked, digest, ledger)
        except EngineError as problem:
            return requests.rejected(asked, str(problem), now)
        except Exception as error:  # a verdict: whatever it is that somebody asks for, the others go on
            log.exception("request could not be read", extra={"execution": str(asked.execution)})
            return requests.rejected(asked, f"it can't be read: {type(error).__name__}: {error}", now)

    def signal(
        self, record: Record, given: SignalGiven, state: ExecutionState | None, ledger: Ledger
    ) -> SignalSet | Fact:
        """What becomes of a signal: the machine's event, or the answer."""
        try:
            if state is None:
                raise BadInput(f"there is no unfinished execution {given.execution}; nothing was changed")
            if len(record.raw) > REQUEST_BYTES:
                raise BadInput(f"it has {len(record.raw)} bytes, more than {REQUEST_BYTES}; nothing was changed")
            literal = fitting_literal(state, given.signal_id, _value_of(given))
            uri = self._blobs.uri(layout.signal(given.execution, given.signal_id, literal))
            ledger.values[uri] = literal
            return SignalSet(given.execution, given.signal_id, uri)
        except EngineError as problem:
            return requests.rejected(given, str(problem), self._clock.now())
        except Exception as error:  # a verdict, as above
            log.exception("signal could not be read", extra={"execution": str(given.execution)})
            return requests.rejected(given, f"it can't be read: {type(error).__name__}: {error}", self._clock.now())

    async def write(self, ledger: Ledger) -> None:
        """Before the commit: what was decided refers to these values. Raises StoreFailed."""
        # What an earlier run of a name left in its folders must not answer for this one.
        await all_of([partial(self._begin, execution, digest) for execution, digest in ledger.begun.items()])
        await all_of([partial(self._put, uri, data) for uri, data in ledger.values.items()])

    def _accept(self, found: _Found, asked: ExecutionRequested, digest: str, ledger: Ledger) -> ExecutionSubmitted:
        if found.target is None:
            raise BadInput(found.problem or "it can't be looked up just now; ask again")
        given = asked.inputs if found.inputs is None else found.inputs
        values = given if isinstance(given, bytes) else from_elsewhere(given)
        inputs = inputs_for(found.target.target, values, "inputs.")
        uri = self._blobs.uri(layout.inputs_of_request(asked.execution, digest)) if inputs else ""
        event = ExecutionSubmitted(
            asked.execution,
            found.target.entity,
            found.target.package,
            inputs_uri=uri,
            submitted_at=self._clock.now(),
            overwrite_cache=asked.overwrite_cache,
            overrides=asked.overrides,
            run=secrets.token_hex(8),
            request=digest,
        )
        refuse_large(event)
        ledger.begun[asked.execution] = digest
        if uri:
            ledger.values[uri] = inputs
        return event

    async def _look_up(self, requests: Sequence[tuple[int, ExecutionRequested]]) -> None:
        """The version that all of these name, with their offsets."""
        found = await self._target(requests[0][1])
        self._found.update((offset, found) for offset, _ in requests)

    async def _target(self, asked: ExecutionRequested) -> _Found:
        try:
            return _Found(await self._backoff.persist(partial(self._find, asked), asked.entity))
        except (LogFailed, StoreFailed):
            raise
        except EngineError as problem:
            return _Found(problem=str(problem))
        except Exception as error:  # a verdict: whatever it is that somebody names, the others go on
            log.exception("request could not be looked up", extra={"execution": str(asked.execution)})
            return _Found(problem=f"{asked.entity!r:.200} can't be looked up: {type(error).__name__}: {error}")

    async def _read_inputs(self, offset: int, asked: ExecutionRequested) -> None:
        target, uri = self._found[offset].target, asked.inputs_uri
        if target is None:
            return
        try:
            data = await self._backoff.persist(partial(self._blobs.get, uri, 0, LARGEST_INPUTS + 1), uri)
        except (LogFailed, StoreFailed):
            raise
        except EngineError as problem:
            self._found[offset] = _Found(problem=f"its inputs can't be read: {problem}")
            return
        if len(data) > LARGEST_INPUTS:
            self._found[offset] = _Found(problem=f"its inputs at {uri} have more than {LARGEST_INPUTS} bytes")
            return
        self._found[offset] = _Found(target, data)

    async def _begin(self, execution: ExecutionId, digest: str) -> None:
        """An empty folder, which tells other processes that the name is taken (engine.fleet)."""
        folder, mark = (
            self._blobs.uri(layout.execution_prefix(execution)),
            self._blobs.uri(layout.submission(execution)),
        )
        await self._backoff.persist(partial(self._blobs.delete, folder), folder)
        taken = msgspec.json.encode(Taken(digest))
        await self._backoff.persist(partial(self._blobs.create, mark, taken), mark)

    async def _put(self, uri: str, data: bytes) -> None:
        await self._backoff.persist(partial(self._blobs.put, uri, data, durable=True), uri)


def _odd(asked: ExecutionRequested, record: Record) -> bool:
    """Whether it will be refused without a look at anything."""
    try:
        refuse_odd(asked, len(record.raw))
        fingerprint(asked)
    except BadInput:
        return True
    return False


def _value_of(given: SignalGiven) -> object:
    """Raises BadInput."""
    if (given.value is UNSET) == (given.approve is UNSET):
        raise BadInput(f"signal {given.signal_id!r:.200}: expected either `value` or `approve`; nothing was changed")
    if isinstance(given.approve, bool):
        return Approval(given.approve)
    return from_elsewhere({"value": given.value})["value"]
