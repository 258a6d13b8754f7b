"""The log in memory: bytes inside, as on a disk, and a `crash` that keeps only what a disk would have kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import islice

import anyio
import anyio.lowlevel

from engine.machine.selecting import chosen
from engine.model.errors import Defect, LogFailed
from engine.model.events import Event
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact, Snapshot
from engine.ports.eventlog import BATCH_RECORDS, Changes, DeadLetter, Headers, Record, Selection
from engine.wire import codec


class MemoryLog:
    def __init__(self, *, shared: bool = False) -> None:
        self.shared = shared
        self._events: dict[int, bytes] = {}
        """What a disk would hold: durable events and consumed ones, by offset."""
        self._inbox: dict[int, bytes] = {}
        """Everything after the cursor, in order; what is not in `_events` too is lost in a crash."""
        self._headers: dict[int, Headers] = {}
        """Of what others have published."""
        self._next_offset = 1
        self._backlog_end = 0
        """Offset of the last event that was there when this log was opened."""
        self._executions: dict[ExecutionId, bytes] = {}
        self._unfinished: dict[ExecutionId, None] = {}
        self._nodes: dict[ExecutionId, dict[str, bytes]] = {}
        self._history: dict[ExecutionId, dict[int, bytes]] = {}
        self._dead_letters: list[bytes] = []
        self.answers: list[Fact] = []
        """To requests, in their order."""
        self._arrived: anyio.Event | None = None
        self._broken = ""

    def crash(self) -> MemoryLog:
        """The log as a restarted process would find it. This one must not be used any more."""
        after = MemoryLog(shared=self.shared)
        after._events = dict(self._events)
        after._inbox = {offset: raw for offset, raw in self._inbox.items() if offset in self._events}
        after._backlog_end = max(self._events, default=0)
        after._headers = dict(self._headers)
        after._next_offset = after._backlog_end + 1
        after._executions, after._unfinished = dict(self._executions), dict(self._unfinished)
        after._nodes = {execution: dict(nodes) for execution, nodes in self._nodes.items()}
        after._history = {execution: dict(facts) for execution, facts in self._history.items()}
        after._dead_letters, after.answers = list(self._dead_letters), list(self.answers)
        return after

    def break_disk(self, cause: str) -> None:
        """From now on every write fails, as on a full disk."""
        self._broken = cause
        self._wake()

    @property
    def behind(self) -> bool:
        return next(iter(self._inbox), self._next_offset) <= self._backlog_end

    async def append(self, events: Sequence[Event], *, durable: bool) -> None:
        self._check()
        self._enter([codec.pack_event(event) for event in events], durable=durable)
        if durable:
            await anyio.lowlevel.checkpoint()

    def publish(self, data: bytes, headers: Headers = ()) -> None:
        """A record of somebody who has the topic and not this library."""
        self._headers[self._next_offset] = headers
        self._enter([data], durable=True)

    async def read(self) -> Sequence[Record]:
        while not self._inbox and not self._broken:
            self._arrived = anyio.Event()
            await self._arrived.wait()
        self._check()
        waiting = islice(self._inbox.items(), BATCH_RECORDS)
        return [codec.unpack_record(offset, raw, self._headers.get(offset, ())) for offset, raw in waiting]

    async def commit(self, records: Sequence[Record], changes: Changes) -> None:
        self._check()
        executions = [(execution, codec.pack_execution(execution)) for execution in changes.executions]
        nodes = [(execution, node.path, codec.pack_node(node)) for execution, node in changes.nodes]
        facts = [(fact, codec.pack_fact(fact)) for fact in changes.facts]
        letters = [codec.pack_dead_letter(letter) for letter in changes.dead_letters]
        events = [codec.pack_event(event) for event in changes.events]
        self._check_waiting(records)
        self._check_sequence(changes.facts)
        # Everything that can fail has been done: from here on the commit happens as a whole.
        for execution, raw in executions:
            self._store(execution, raw)
        for owner, path, raw in nodes:
            self._nodes.setdefault(owner, {})[path] = raw
        for fact, raw in facts:
            self._history.setdefault(fact.execution, {})[fact.sequence] = raw
        self._dead_letters += letters
        self.answers += changes.answers
        for record in records:
            self._events[record.offset] = self._inbox.pop(record.offset)
        self._enter(events, durable=True)
        await anyio.lowlevel.checkpoint()

    async def restore(self) -> AsyncIterator[Snapshot]:
        for execution in list(self._unfinished):
            snapshot = await self.snapshot(execution)
            if snapshot is not None:
                yield snapshot

    async def find(self, ids: Sequence[ExecutionId]) -> dict[ExecutionId, Execution]:
        await anyio.lowlevel.checkpoint()
        return {key: codec.unpack_execution(self._executions[key]) for key in ids if key in self._executions}

    async def snapshot(self, execution: ExecutionId) -> Snapshot | None:
        await anyio.lowlevel.checkpoint()
        raw = self._executions.get(execution)
        if raw is None:
            return None
        nodes = sorted(self._nodes.get(execution, {}).items())
        return Snapshot(codec.unpack_execution(raw), tuple(codec.unpack_node(node) for _, node in nodes))

    async def executions(self) -> Sequence[Execution]:
        await anyio.lowlevel.checkpoint()
        return [codec.unpack_execution(raw) for raw in self._executions.values()]

    async def select(self, wanted: Selection) -> Sequence[Execution]:
        return chosen(await self.executions(), wanted)

    async def history(self, execution: ExecutionId, after: int = 0, limit: int | None = None) -> Sequence[Fact]:
        await anyio.lowlevel.checkpoint()
        facts = sorted(self._history.get(execution, {}).items())
        return [codec.unpack_fact(raw) for sequence, raw in facts if sequence > after][:limit]

    async def events(self, after: int = 0) -> Sequence[Record]:
        """The next BATCH_RECORDS events that a disk would hold, with an offset above `after`: what a replay reads."""
        await anyio.lowlevel.checkpoint()
        offsets = sorted(offset for offset in self._events if offset > after)[:BATCH_RECORDS]
        return [codec.unpack_record(offset, self._events[offset]) for offset in offsets]

    async def dead_letters(self) -> Sequence[DeadLetter]:
        await anyio.lowlevel.checkpoint()
        return [codec.unpack_dead_letter(raw) for raw in self._dead_letters]

    def _check(self) -> None:
        if self._broken:
            raise LogFailed(f"the log in memory can't be written: {self._broken}")

    def _check_waiting(self, records: Sequence[Record]) -> None:
        for record in records:
            if record.offset not in self._inbox:
                raise Defect(f"event {record.offset} of the log can't be committed: it is not waiting to be processed")

    def _check_sequence(self, facts: Sequence[Fact]) -> None:
        taken: set[tuple[ExecutionId, int]] = set()
        for fact in facts:
            key = (fact.execution, fact.sequence)
            if key in taken or fact.sequence in self._history.get(fact.execution, {}):
                raise Defect(f"history of execution {fact.execution} has a fact number {fact.sequence} already")
            taken.add(key)

    def _store(self, execution: Execution, raw: bytes) -> None:
        self._executions[execution.id] = raw
        if execution.terminal:
            self._unfinished.pop(execution.id, None)
        else:
            self._unfinished[execution.id] = None

    def _enter(self, packed: Sequence[bytes], *, durable: bool) -> None:
        for raw in packed:
            self._inbox[self._next_offset] = raw
            if durable:
                self._events[self._next_offset] = raw
            self._next_offset += 1
        if packed:
            self._wake()

    def _wake(self) -> None:
        if self._arrived is not None:
            self._arrived.set()
