"""The log: events in, states and history out, one transaction a turn.

Events of one execution are read in the order in which they were appended. What one `commit` holds becomes visible and
durable as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from msgspec import Struct

from engine.model.events import Event, Incoming
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact, Node, Snapshot

BATCH_RECORDS = 500
"""The most records that one `read` returns."""


Headers = tuple[tuple[str, bytes], ...]
"""Beside the bytes of a record; how they are to be read stands in CONTENT_TYPE."""
CONTENT_TYPE = "content-type"


class Record(Struct, frozen=True):
    """One record of the log. `event` is None when the bytes could not be decoded: `problem` says why."""

    offset: int
    event: Incoming | None
    raw: bytes = b""
    problem: str = ""
    headers: Headers = ()


class DeadLetter(Struct, frozen=True, omit_defaults=True):
    """A record that could not be processed, with the reason."""

    offset: int
    raw: bytes
    reason: str
    execution: ExecutionId | None = None
    headers: Headers = ()
    """As the record had them."""


class Changes(Struct, frozen=True):
    """What one turn decided."""

    executions: Sequence[Execution] = ()
    nodes: Sequence[tuple[ExecutionId, Node]] = ()
    facts: Sequence[Fact] = ()
    events: Sequence[Event] = ()
    """Follow-up events: appended durably, and read in a later batch."""
    dead_letters: Sequence[DeadLetter] = ()
    answers: Sequence[Fact] = ()
    """To requests, for whoever follows the history from outside; no part of any execution's history. A log that nobody
    follows from outside keeps none."""


class Mark(Struct, frozen=True):
    """The place of an execution among those that are listed: by the moment of its submission, then by its id."""

    submitted_at: float
    id: ExecutionId


class Selection(Struct, frozen=True):
    """Which executions somebody wants to see."""

    phases: tuple[str, ...] = ()
    """Any of these; empty: all."""
    workflow: str = ""
    """Full name of the workflow or launch plan, or an ending of it after a dot."""
    since: float | None = None
    """Submitted then (seconds since the epoch) or later."""
    children: bool = True
    """Those that a launch plan node started, too."""
    project: str | None = None
    domain: str | None = None
    behind: Mark | None = None
    """Those that come after it in the list."""
    limit: int | None = None
    """So many of them at the most."""


class EventLog(Protocol):
    @property
    def behind(self) -> bool:
        """Whether events that were stored before this log was opened are still to be read and committed."""
        ...

    @property
    def shared(self) -> bool:
        """Whether another process may come to own this log while this one still believes that it does. It may then
        decide otherwise what is not committed here: before the commit nothing may be done about that."""
        ...

    async def append(self, events: Sequence[Event], *, durable: bool) -> None:
        """Add events to the end of the log.

        durable=True returns when they are on disk. durable=False returns at once: the events are read in order with the
        others, and what comes of them becomes durable with the commit of the turn that consumes them; after a crash the
        effects that are still due produce them again. Raises LogFailed.
        """
        ...

    async def read(self) -> Sequence[Record]:
        """Wait for records and return those that are there, in order: at least 1, at most BATCH_RECORDS.

        None at all, once, where the log has come to the end of what was stored before without another event.
        One reader. The records of a read must be committed before the next read.
        """
        ...

    async def commit(self, records: Sequence[Record], changes: Changes) -> None:
        """One transaction: `changes`, the consumed records, the cursor behind the last of them. Raises LogFailed."""
        ...

    def restore(self) -> AsyncIterator[Snapshot]:
        """Every unfinished execution with all its nodes, as of the last commit."""
        ...

    async def find(self, ids: Sequence[ExecutionId]) -> dict[ExecutionId, Execution]:
        """Those of the executions that are stored, finished or not."""
        ...

    async def snapshot(self, execution: ExecutionId) -> Snapshot | None: ...

    async def executions(self) -> Sequence[Execution]:
        """All stored executions, oldest submission first."""
        ...

    async def select(self, wanted: Selection) -> Sequence[Execution]:
        """The newest submission first; of several of one moment the one with the greater id."""
        ...

    async def history(self, execution: ExecutionId, after: int = 0, limit: int | None = None) -> Sequence[Fact]:
        """Facts with a sequence number above `after`, in order, so many of them at the most."""
        ...

    async def dead_letters(self) -> Sequence[DeadLetter]: ...


class Records(Protocol):
    """What a look at a log may ask."""

    async def executions(self) -> Sequence[Execution]: ...

    async def snapshot(self, execution: ExecutionId) -> Snapshot | None: ...


class Alike(Struct, frozen=True):
    """What a message proposes in place of a name that no execution has."""

    begun_with: tuple[str, ...]
    """Names that begin like it, some of them."""
    newest: tuple[str, ...]
    """Those of the newest executions, oldest first."""
    count: int
    """How many executions there are."""


class Names(Protocol):
    """Executions by what people call them. Costs the same however many there are. Raises LogFailed."""

    async def namesakes(self, name: str) -> Sequence[Execution]:
        """Those of this name, in every project and domain; or the one of `project:domain:name`."""
        ...

    async def alike(self, name: str, most: int) -> Alike:
        """`most`: names that begin like it."""
        ...


class Told(Records, Protocol):
    """With the facts."""

    async def history(self, execution: ExecutionId, after: int = 0, limit: int | None = None) -> Sequence[Fact]: ...


class Journal(Told, Protocol):
    """With the list of executions. Raises LogFailed."""

    async def find(self, ids: Sequence[ExecutionId]) -> dict[ExecutionId, Execution]: ...

    async def select(self, wanted: Selection) -> Sequence[Execution]:
        """The newest submission first; of several of one moment the one with the greater id."""
        ...
