"""Reads the events of one partition ahead of the turns, for as long as the partition is ours."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial

from aiokafka import AIOKafkaConsumer, TopicPartition, errors

from engine.adapters.kafka import faults, records
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.inbox import Inbox
from engine.adapters.kafka.oddnames import forgiving
from engine.adapters.kafka.patience import Patience, persist
from engine.adapters.kafka.reading import POLL_MS, SHORT_POLL_MS, Found, seek
from engine.model.errors import LogFailed

log = logging.getLogger(__name__)


class Feed:
    def __init__(self, clients: Clients, consumer: AIOKafkaConsumer, events: TopicPartition, owner: bytes) -> None:
        self._options, self._consumer, self._events, self._owner = clients.options, consumer, events, owner

    @classmethod
    async def open(cls, stack: AsyncExitStack, clients: Clients, events: TopicPartition, owner: bytes) -> Feed:
        """Waits while Kafka is in trouble. Raises LogFailed."""
        consumer = await persist(f"reading {events}", lambda: stack.enter_async_context(clients.consumer()))
        return cls(clients, consumer, events, owner)

    async def start(self, cursor: int) -> Inbox:
        """Read from the cursor on; an empty inbox. Raises LogFailed."""
        return await persist(f"reading {self._events}", partial(self._start, cursor))

    async def run(self, inbox: Inbox, failed: Callable[[LogFailed], None]) -> None:
        """Fill the inbox, for ever; what makes that impossible is told to `failed`."""
        patience = Patience(f"reading {self._events}")
        try:
            while True:
                await inbox.room()
                try:
                    await self._read(inbox)
                    patience.over()
                except errors.OffsetOutOfRangeError as error:
                    raise LogFailed(f"events of {self._events} were deleted before they were read") from error
                except faults.CLIENT_ERRORS as error:
                    await patience.wait(error)
        except LogFailed as failure:
            failed(failure)

    async def _start(self, cursor: int) -> Inbox:
        first = await seek(self._consumer, self._events, cursor)
        end = (await self._consumer.end_offsets([self._events]))[self._events]
        if first > cursor:
            log.error(
                "events were deleted before they were processed",
                extra={"topic": str(self._events), "from": cursor, "to": first - 1},
            )
        return Inbox(max(first, cursor), end)

    async def _read(self, inbox: Inbox) -> None:
        found = await self._poll(inbox)
        fetched = await self._consumer.position(self._events)
        waiting = [records.queued(each, self._owner, self._options) for each in found.get(self._events, ())]
        inbox.feed(waiting, fetched)

    async def _poll(self, inbox: Inbox) -> Mapping[TopicPartition, Sequence[Found]]:
        poll_ms = SHORT_POLL_MS if inbox.behind else POLL_MS
        try:
            return await self._consumer.getmany(self._events, timeout_ms=poll_ms)
        except UnicodeDecodeError as error:
            log.warning(
                "a record has a header with an odd name", extra={"topic": str(self._events), "cause": str(error)}
            )
            with forgiving():
                self._consumer.seek(self._events, inbox.fetched)
                return await self._consumer.getmany(self._events, timeout_ms=POLL_MS)
