"""What waits to be processed: numbered events in memory, in order, and which of their rows are still to be written."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice

import anyio

from engine.model.events import Event
from engine.ports.eventlog import BATCH_RECORDS, Record
from engine.wire import codec


class Inbox:
    """Offsets count from 1. Those up to `backlog_end` were on disk at the start and are read from there."""

    def __init__(self) -> None:
        self.cursor = 0
        """Offset of the last event processed and committed."""
        self.backlog_end = 0
        self._next_offset = 1
        self._records: deque[Record] = deque()
        self._unwritten: set[int] = set()
        self._arrived: anyio.Event | None = None

    def start_at(self, cursor: int, last: int) -> None:
        """Go on behind what is on disk: the offset of the last event processed, and of the last one there is."""
        self.cursor, self.backlog_end, self._next_offset = cursor, last, last + 1

    @property
    def backlog(self) -> bool:
        """Whether events of an earlier process come first."""
        return self.cursor < self.backlog_end

    def number(self, events: Sequence[Event]) -> list[Record]:
        """Give events their bytes and offsets. Raises Defect, and uses no offset, for what can't be packed."""
        packed = [codec.pack_event(event) for event in events]
        first = self._next_offset
        self._next_offset += len(packed)
        return [Record(first + n, event, raw) for n, (event, raw) in enumerate(zip(events, packed, strict=True))]

    def put(self, records: Sequence[Record], *, written: bool) -> None:
        """Let `read` see numbered records. `written`: their rows are queued for the disk already."""
        self._records.extend(records)
        if not written:
            self._unwritten.update(record.offset for record in records)
        if records:
            self.wake()

    def head(self) -> list[Record]:
        """The next batch; it stays here until `advance`."""
        return list(islice(self._records, BATCH_RECORDS))

    def unwritten(self, records: Iterable[Record]) -> list[Record]:
        return [record for record in records if record.offset in self._unwritten]

    def advance(self, cursor: int) -> None:
        """Forget what has been committed."""
        self.cursor = cursor
        while self._records and self._records[0].offset <= cursor:
            self._unwritten.discard(self._records.popleft().offset)

    async def changed(self) -> None:
        """Wait for the next `wake`."""
        self._arrived = anyio.Event()
        await self._arrived.wait()

    def wake(self) -> None:
        if self._arrived is not None:
            self._arrived.set()
