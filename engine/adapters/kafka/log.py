"""The event log of one partition: an EventLog on the topics, owned by one engine at a time.

Taking over goes in this order: the transactional producer is started, which ends the transactions of the owner before;
then the states and the cursor are read; then a first commit claims the partition; then events are read from the cursor.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import anyio.lowlevel
from aiokafka import TopicPartition

from engine.adapters.kafka import records, tenants
from engine.adapters.kafka.appender import Appender
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.feed import Feed
from engine.adapters.kafka.history import Archive
from engine.adapters.kafka.inbox import MEMORY, Inbox
from engine.adapters.kafka.keys import partition_of
from engine.adapters.kafka.message import Message
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.sequences import Sequences
from engine.adapters.kafka.states import States
from engine.adapters.kafka.takeover import take_over
from engine.adapters.kafka.transactions import Transactions
from engine.adapters.workers import helpers
from engine.machine.selecting import chosen
from engine.model.errors import Defect, LogFailed
from engine.model.events import Event
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact, Snapshot
from engine.ports.eventlog import Changes, DeadLetter, Record, Selection


class KafkaLog:
    """An EventLog. Use `open`."""

    def __init__(self, clients: Clients, partition: int, appender: Appender, transactions: Transactions) -> None:
        self._clients, self.partition, self._appender = clients, partition, appender
        self._transactions = transactions
        self._states = States(clients.options, partition)
        self._events = TopicPartition(clients.options.topic(Topic.EVENTS), partition)
        self._owner = secrets.token_bytes(8)
        self._sequences = Sequences()
        self._archive = Archive(clients, transactions.written)
        self._inbox = Inbox(0, 0)
        self._failure: LogFailed | None = None
        self._was_read = False
        self.began = time.monotonic()
        """When taking it over began."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls, clients: Clients, partition: int, appender: Appender, still_ours: Callable[[], bool] = lambda: True
    ) -> AsyncIterator[KafkaLog]:
        """Take a partition over, until the block is left. `still_ours`: whether the group says that we have it.

        Raises LogFailed where it belongs to somebody else, or Kafka refuses it for good, BadInput where it belongs to
        another group or to engines with another store; waits while Kafka is in trouble.
        """
        transactions = Transactions(clients, partition, still_ours)
        mine = cls(clients, partition, appender, transactions)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(transactions.close)
            await transactions.fence()
            taken = await take_over(clients, partition, transactions.visible)
            mine._states = taken.states
            await transactions.claim(taken.claim.cursor, taken.end)
            if not taken.claim.group:
                await tenants.refuse_earlier(clients, partition, taken.end)
            feed = await Feed.open(stack, clients, mine._events, mine._owner)
            mine._inbox = await feed.start(taken.claim.cursor)
            tasks = await stack.enter_async_context(helpers())
            tasks.start_soon(feed.run, mine._inbox, mine._fail)
            try:
                yield mine
            finally:
                mine._fail(LogFailed(f"partition {partition} of the events was let go"))

    @property
    def shared(self) -> bool:
        """The next owner fences this one, which hears of it when it commits."""
        return True

    @property
    def behind(self) -> bool:
        return self._inbox.behind

    @property
    def cursor(self) -> int:
        """Offset of the next event to process."""
        return self._inbox.cursor

    @property
    def marks(self) -> tuple[int, int]:
        """How far it has read, and how far it has committed."""
        return self._inbox.fetched, self._inbox.committed

    @property
    def tries(self) -> int:
        """How often it has begun to write anew: it only grows."""
        return self._transactions.tries

    def is_done(self, end: int) -> bool:
        """Whether nothing waits, where the topic ends there; nothing does before the first `read`."""
        return not self._was_read or (self._inbox.fetched >= end and self._inbox.is_empty)

    async def append(self, events: Sequence[Event], *, durable: bool) -> None:
        self._check()
        in_memory, messages, orders = self._sorted(events, durable)
        self._inbox.put(in_memory)
        if messages:
            sent = self._appender.send(messages, lambda: self._inbox.forget(orders))
            if durable:
                await sent.wait()

    async def read(self) -> Sequence[Record]:
        was_behind, self._was_read = self.behind, True
        await anyio.lowlevel.checkpoint()
        while True:
            self._check()
            await self._forward()
            if (found := self._inbox.head()) or (was_behind and not self.behind):
                return found
            await self._inbox.changed()

    async def commit(self, records: Sequence[Record], changes: Changes) -> None:
        self._check()
        if records and records[0].offset <= self._inbox.committed:
            raise Defect(f"event {records[0].offset} of {self._events} can't be committed: it has been already")
        position = records[-1].offset if records else self._inbox.committed
        packed = self._states.pack(changes, time.time())
        self._sequences.check(changes.facts)
        messages = [*packed.messages, *self._rest(changes)]
        await self._write(messages, self._inbox.cursor_at(position))
        self._states.apply(packed)
        self._sequences.apply(changes)
        self._inbox.advance(position)

    async def restore(self) -> AsyncIterator[Snapshot]:
        for snapshot in self._states.snapshots():
            yield snapshot

    async def find(self, ids: Sequence[ExecutionId]) -> dict[ExecutionId, Execution]:
        return self._states.find(ids)

    async def snapshot(self, execution: ExecutionId) -> Snapshot | None:
        """One of another partition, or one that has ended, is looked for in the topic, which takes a while."""
        return self._states.snapshot(execution) or await self._archive.snapshot(execution)

    async def executions(self) -> Sequence[Execution]:
        """Of this partition."""
        return self._states.executions()

    async def select(self, wanted: Selection) -> Sequence[Execution]:
        """Of this partition."""
        return chosen(self._states.executions(), wanted)

    async def history(self, execution: ExecutionId, after: int = 0, limit: int | None = None) -> Sequence[Fact]:
        return (await self._archive.history(execution, after))[:limit]

    async def dead_letters(self) -> Sequence[DeadLetter]:
        """Of this partition."""
        return await self._archive.dead_letters(self.partition)

    def _sorted(self, events: Sequence[Event], durable: bool) -> tuple[list[Record], list[Message], list[int]]:
        """Those that wait in memory; those that go through Kafka; the orders of our own among the latter."""
        in_memory, abroad, ours = list[Record](), list[Message](), list[Message]()
        for event in events:
            here = partition_of(event.execution, self._clients.options.partitions) == self.partition
            if here and not durable:
                in_memory.append(records.in_memory(event))
            else:
                (ours if here else abroad).append(records.event_message(event, self._clients.options))
        # Whatever can't be packed has raised by now, and nothing is expected that will not come.
        orders = [self._inbox.expect() for _ in ours]
        marked = [self._ours(message, order) for message, order in zip(ours, orders, strict=True)]
        return in_memory, [*abroad, *marked], orders

    def _ours(self, message: Message, order: int) -> Message:
        return Message(
            message.topic, message.partition, message.key, message.value, (records.appended(self._owner, order),)
        )

    def _rest(self, changes: Changes) -> list[Message]:
        """Answers, then facts, so that what follows from a request comes after its answer; dead letters, events."""
        found = [records.fact_message(fact, self.partition) for fact in (*changes.answers, *changes.facts)]
        for letter in changes.dead_letters:
            behind, in_memory = divmod(letter.offset, MEMORY)
            offset = letter.offset if in_memory else behind - 1
            found.append(records.letter_message(letter, self.partition, offset))
        events = [records.event_message(event, self._clients.options) for event in changes.events]
        for message in events:
            ours = message.partition == self.partition
            found.append(self._ours(message, self._inbox.expect()) if ours else message)
        return found

    async def _forward(self) -> None:
        """Events that somebody has put into the wrong partition go to the right one, with the cursor behind them."""
        while found := self._inbox.misplaced():
            position = (found[-1].offset + 1) * MEMORY
            await self._write([records.forwarded(waiting) for waiting in found], self._inbox.cursor_at(position))
            self._inbox.advance(position)

    async def _write(self, messages: Sequence[Message], cursor: int) -> None:
        if not messages and cursor == self._inbox.cursor:
            return
        try:
            await self._transactions.commit(messages, cursor)
        except LogFailed as failure:
            self._fail(failure)
            raise

    def _fail(self, failure: LogFailed) -> None:
        self._failure = self._failure or failure
        self._inbox.wake()

    def _check(self) -> None:
        if self._failure is not None:
            raise type(self._failure)(*self._failure.args) from self._failure
