"""Appends events outside of any transaction, in the order of the calls: one writer for all partitions of a process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio
from aiokafka import AIOKafkaProducer

from engine.adapters.kafka import faults
from engine.adapters.kafka.clients import Clients, discard
from engine.adapters.kafka.message import Message
from engine.adapters.kafka.patience import Patience
from engine.adapters.kafka.sending import deliver, grouped
from engine.adapters.workers import helpers
from engine.model.errors import LogFailed


class Order:
    """Messages of one call. `done` is set when they are acknowledged, or their `failure` is known."""

    def __init__(self, messages: Sequence[Message], refused: Callable[[], None]) -> None:
        self.messages, self.refused = messages, refused
        self.done = anyio.Event()
        self.failure: LogFailed | None = None

    async def wait(self) -> None:
        """Raises LogFailed."""
        await self.done.wait()
        if self.failure is not None:
            raise LogFailed(*self.failure.args) from self.failure


class Appender:
    """Use `open`. Takes whatever waits in one go, so that many callers share a request."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._waiting: list[Order] = []
        self._something = anyio.Event()
        self._producer: AIOKafkaProducer | None = None

    @classmethod
    @asynccontextmanager
    async def open(cls, clients: Clients) -> AsyncIterator[Appender]:
        appender = cls(clients)
        async with helpers() as tasks:
            tasks.start_soon(appender._run)
            yield appender

    def send(self, messages: Sequence[Message], refused: Callable[[], None]) -> Order:
        """Put them behind all that was sent before. `refused` is called when Kafka will not have them."""
        order = Order(messages, refused)
        self._waiting.append(order)
        self._something.set()
        return order

    async def _run(self) -> None:
        try:
            while True:
                await self._something.wait()
                self._something = anyio.Event()
                orders, self._waiting = self._waiting, []
                await self._write(orders)
        finally:
            await self._renounce()

    async def _write(self, orders: Sequence[Order]) -> None:
        """All at once; where that is refused for good, one by one, so that each has its own answer."""
        try:
            await self._persist([message for order in orders for message in order.messages])
        except LogFailed as failure:
            if len(orders) > 1:
                for order in orders:
                    await self._write([order])
                return
            orders[0].failure = failure
            orders[0].refused()
        for order in orders:
            order.done.set()

    async def _persist(self, messages: Sequence[Message]) -> None:
        """Until it is acknowledged. Trouble may write some of it twice: events that come twice change nothing."""
        patience = Patience("events that are appended")
        while messages:
            try:
                await deliver(await self._started(), grouped(messages, self._clients.options))
                patience.over()
                return
            except faults.CLIENT_ERRORS as error:
                await self._renounce()
                await patience.wait(error)

    async def _started(self) -> AIOKafkaProducer:
        if self._producer is None:
            self._producer = await self._clients.start_producer()
        return self._producer

    async def _renounce(self) -> None:
        if self._producer is not None:
            producer, self._producer = self._producer, None
            await discard(producer, self._clients.stop_seconds)
