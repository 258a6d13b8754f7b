"""The transactions of one partition: each is there as a whole or not at all, and exactly once.

The producer has the partition's own transactional id, so whoever starts it takes the partition over: the transactions
of an owner before it are ended by then, and can't be continued. Any trouble throws the producer away. Whether the
transaction it was in took place is then read from the claim that it would have written.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial

import anyio
from aiokafka import AIOKafkaProducer, TopicPartition

from engine.adapters.kafka import faults
from engine.adapters.kafka.claim import Claim, last_claim
from engine.adapters.kafka.clients import Clients, discard
from engine.adapters.kafka.keys import BARRIER
from engine.adapters.kafka.message import Message
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.patience import Patience
from engine.adapters.kafka.sending import grouped, transact
from engine.model.errors import Defect, LogFailed


class Transactions:
    """`still_ours`: whether the group says that this process has the partition."""

    def __init__(self, clients: Clients, partition: int, still_ours: Callable[[], bool]) -> None:
        self._clients, self._partition, self._still_ours = clients, partition, still_ours
        self._state = TopicPartition(clients.options.topic(Topic.STATE), partition)
        self._producer: AIOKafkaProducer | None = None
        self._owner = secrets.token_hex(8)
        self._turn = 0
        self._behind = 0
        """Offset of the state topic: what this owner has written lies before it."""
        self.visible = 0
        """Offset of the state topic up to which a reader must come to have seen all that was committed before our
        producer was started: a broker that has just come back shows less for a moment."""
        self.written: dict[TopicPartition, int] = {}
        """Where the last commit to a partition has ended."""
        self.renewals = 0
        self.tries = 0
        """Producers that were started anew, whether they could write then or not: Kafka answers, and nobody hangs."""

    async def fence(self) -> None:
        """Take the partition over; returns when no other owner can write any more. Raises LogFailed."""
        await self._persist(self._renew)

    async def claim(self, cursor: int, behind: int) -> None:
        """The first commit. `behind`: where the state topic ended when it was read. Raises LogFailed."""
        self._behind = behind
        await self.commit((), cursor)

    async def commit(self, messages: Sequence[Message], cursor: int) -> None:
        """Raises LogFailed where somebody else has the partition, or Kafka refuses it for good; Defect."""
        self._turn += 1
        options = self._clients.options
        claim = Claim(self._owner, cursor, self._turn, options.group, options.store)
        self._check_sizes(messages)
        await self._persist(partial(self._once, [*messages, claim.message(self._partition)], claim))

    async def close(self) -> None:
        if self._producer is not None:
            producer, self._producer = self._producer, None
            await discard(producer, self._clients.stop_seconds)

    async def _once(self, messages: Sequence[Message], claim: Claim) -> None:
        """Have the transaction, unless it has taken place by now."""
        if self._producer is None:
            # Before the producer is started, so that a partition that was taken over is not taken back.
            if await self._found(claim):
                return
            await self._renew()
            if await self._found(claim):
                return
        producer = self._producer
        assert producer is not None
        try:
            with self._clients.held(self._clients.options.commit_seconds):
                written = await transact(producer, grouped(messages, self._clients.options))
                self._behind = written[self._state]
                self.written.update(written)
        except BaseException:
            await self.close()
            raise

    async def _renew(self) -> None:
        await self.close()
        options = self._clients.options
        producer = await self._clients.start_producer(options.transactional_id(self._partition))
        self.tries += 1
        try:
            with self._clients.held(options.commit_seconds):
                barrier = Message(Topic.STATE, self._partition, BARRIER, None)
                self.visible = (await transact(producer, grouped([barrier], options)))[self._state]
        except BaseException:
            await discard(producer, self._clients.stop_seconds)
            raise
        self._producer = producer
        self.renewals += 1

    async def _found(self, claim: Claim) -> bool:
        """Whether a commit took place. Raises LogFailed where somebody else has claimed the partition since."""
        with anyio.fail_after(self._clients.options.commit_seconds):
            last = await last_claim(self._clients, self._state, self._behind, self.visible)
        if last is None:
            return False
        if last.owner != self._owner:
            raise LogFailed(f"partition {self._partition} of the events belongs to another engine now")
        return last.turn >= claim.turn

    async def _persist(self, work: Callable[[], Awaitable[None]]) -> None:
        patience = Patience(f"partition {self._partition}")
        while True:
            if not self._still_ours():
                raise LogFailed(f"partition {self._partition} of the events was given to another engine")
            try:
                await work()
                patience.over()
                return
            except faults.CLIENT_ERRORS as error:
                await patience.wait(error)

    def _check_sizes(self, messages: Iterable[Message]) -> None:
        most = self._clients.options.max_record_bytes
        for message in messages:
            # Most are small, and there are many.
            if message.value is not None and len(message.value) > most // 2 and message.size > most:
                raise Defect(
                    f"a record of {message.topic.value} with the key {message.key.decode(errors='replace')} has "
                    f"{message.size} bytes, more than the {most} that a record may have"
                )
