"""What waits to be processed: events of the topic, and events of this process that need not be durable, in one order.

Events of the topic keep the topic's order. An event of this process that lies only in memory comes after all that this
process had appended before it, and before all that it appended later: it waits while something older of ours is still
on its way through Kafka.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import anyio
from msgspec import Struct, structs

from engine.ports.eventlog import BATCH_RECORDS, Record

BATCH_BYTES = 1024 * 1024
"""Of the events that one read returns, about."""
MOST_QUEUED = 4 * BATCH_RECORDS
"""Events of the topic that are read ahead."""
MEMORY = 1 << 32
"""A position is (offset behind the last event of the topic) * MEMORY + (events in memory since then)."""


class Queued(Struct):
    record: Record
    """Gets its position when its turn comes."""
    order: int = 0
    """Of what this process has appended: which number that was."""
    offset: int = -1
    """In the topic; -1 = in memory only."""
    misplaced: int = -1
    """The partition that it belongs to, where that is another one."""


class Inbox:
    def __init__(self, cursor: int, backlog_end: int) -> None:
        """`cursor`: offset of the next event to process. `backlog_end`: where the topic ended at the start."""
        self.cursor, self.fetched = cursor, cursor
        """Offsets up to which the topic has been processed, and read."""
        self.committed = self._position = cursor * MEMORY
        """Positions of the last event that was committed, and of the last one that got its turn."""
        self._backlog_end = backlog_end
        self._orders = 0
        self._topic: deque[Queued] = deque()
        self._memory: deque[Queued] = deque()
        self._under_way: deque[int] = deque()
        """Orders of what this process has appended to the topic and that has not had its turn."""
        self._head: deque[Queued] = deque()
        """Those whose turn it is."""
        self._bytes = 0
        self._changed, self._room = anyio.Event(), anyio.Event()

    @property
    def behind(self) -> bool:
        """Whether events from before the start are still to be processed."""
        waiting = [queued.offset for queued in self._head if queued.offset >= 0]
        return min(waiting, default=self._next_offset) < self._backlog_end

    @property
    def is_empty(self) -> bool:
        return not (self._topic or self._memory or self._head)

    @property
    def _next_offset(self) -> int:
        """Of the event of the topic whose turn is next; where none has been read, of the one that comes next."""
        return self._topic[0].offset if self._topic else self.fetched

    def expect(self) -> int:
        """The order of an event that is appended to the topic now; it comes back with the event."""
        self._orders += 1
        self._under_way.append(self._orders)
        return self._orders

    def forget(self, orders: Sequence[int]) -> None:
        """These will not come."""
        self._under_way = deque(order for order in self._under_way if order not in orders)
        self.wake()

    def put(self, records: Sequence[Record]) -> None:
        """Events in memory."""
        for record in records:
            self._orders += 1
            self._memory.append(Queued(record, self._orders))
        self.wake()

    def feed(self, found: Sequence[Queued], fetched: int) -> None:
        """Events of the topic, in its order, and the offset behind them."""
        for queued in found:
            if queued.order not in self._under_way:
                # Somebody else's, or written a second time: it comes after what is here.
                self._orders += 1
                queued.order = self._orders
            self._topic.append(queued)
        if found or fetched != self.fetched:
            self.fetched = fetched
            self.wake()

    async def room(self) -> None:
        """Wait until there is room for more events of the topic."""
        while len(self._topic) >= MOST_QUEUED:
            self._room = anyio.Event()
            await self._room.wait()

    def head(self) -> list[Record]:
        """The next batch; it stays here until `advance`. Ends before an event that belongs elsewhere."""
        while len(self._head) < BATCH_RECORDS and self._bytes < BATCH_BYTES and (queued := self._next()):
            self._position = (queued.offset + 1) * MEMORY if queued.offset >= 0 else self._position + 1
            queued.record = structs.replace(queued.record, offset=self._position)
            self._head.append(queued)
            self._bytes += len(queued.record.raw)
        self._room.set()
        return [queued.record for queued in self._head]

    def misplaced(self) -> list[Queued]:
        """Those that come next in the topic and belong elsewhere; none while others have their turn."""
        found: list[Queued] = []
        while not self._head and self._topic and self._topic[0].misplaced >= 0:
            found.append(self._topic.popleft())
        return found

    def cursor_at(self, position: int) -> int:
        """The cursor when everything up to a position is processed."""
        return max(self.cursor, position // MEMORY)

    def advance(self, position: int) -> None:
        """Everything up to a position is processed and committed."""
        while self._head and self._head[0].record.offset <= position:
            self._bytes -= len(self._head.popleft().record.raw)
        self.committed = max(self.committed, position)
        self._position = max(self._position, position)
        self.cursor = self.cursor_at(position)

    async def changed(self) -> None:
        """Wait for the next `wake`."""
        self._changed = anyio.Event()
        await self._changed.wait()

    def wake(self) -> None:
        self._changed.set()

    def _next(self) -> Queued | None:
        in_memory, in_topic = self._ready_memory(), self._ready_topic()
        if in_memory and (in_topic is None or in_memory.order < in_topic.order):
            return self._memory.popleft()
        if in_topic is None:
            return None
        if in_topic.order in self._under_way:
            self._under_way.remove(in_topic.order)
        return self._topic.popleft()

    def _ready_memory(self) -> Queued | None:
        if not self._memory or self._next_offset < self._backlog_end:
            return None
        first = self._memory[0]
        return None if self._under_way and self._under_way[0] < first.order else first

    def _ready_topic(self) -> Queued | None:
        return self._topic[0] if self._topic and self._topic[0].misplaced < 0 else None
