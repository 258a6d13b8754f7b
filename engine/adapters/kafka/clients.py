"""Clients of aiokafka, made as the options say, and how they are left in bounded time."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, errors
from aiokafka.producer import sender
from anyio.lowlevel import cancel_shielded_checkpoint

from engine.adapters.kafka.options import KafkaOptions

STOP_SECONDS = 3.0
HURRIED_SECONDS, HURRIED_COMMIT_SECONDS = 0.5, 2.0
"""The same while the process stops, and what a commit that is under way may take then: a broker that is away must not
use up the time that the process has for its stop. What has no answer by then is looked up by the next owner."""
BATCH_BYTES = 1024 * 1024
CONCURRENT_WAIT_SECONDS = 0.003
"""Between the tries to begin a transaction while the broker still writes the end of the one before it. The client's own
wait (20 ms) would be most of the time that a small commit takes."""

log = logging.getLogger(__name__)


class _Pending(set[object]):
    """Batches that a producer has sent. One that waits to be sent again is not among them, and when it fails then, the
    client would stumble over taking it out."""

    def remove(self, element: object) -> None:
        self.discard(element)


class Clients:
    """Makes every client of one engine. `arguments`: security, read once."""

    def __init__(self, options: KafkaOptions, arguments: dict[str, Any]) -> None:
        self.options = options
        self.common: dict[str, Any] = {
            **arguments,
            "bootstrap_servers": options.bootstrap,
            "request_timeout_ms": int(options.request_seconds * 1000),
        }
        self.stop_seconds = STOP_SECONDS
        self._held: set[anyio.CancelScope] = set()
        assert isinstance(sender.BACKOFF_OVERRIDE, float)
        sender.BACKOFF_OVERRIDE = CONCURRENT_WAIT_SECONDS

    @contextmanager
    def held(self, seconds: float) -> Iterator[None]:
        """The block goes on when its task is told to stop, for so long at most. Raises TimeoutError."""
        seconds = min(seconds, HURRIED_COMMIT_SECONDS) if self.stop_seconds < STOP_SECONDS else seconds
        with anyio.fail_after(seconds, shield=True) as scope:
            self._held.add(scope)
            try:
                yield
            finally:
                self._held.remove(scope)

    def hurry(self) -> None:
        """The process stops: from now on nothing waits for long."""
        self.stop_seconds = HURRIED_SECONDS
        latest = anyio.current_time() + HURRIED_COMMIT_SECONDS
        for scope in self._held:
            scope.deadline = min(scope.deadline, latest)

    async def start_producer(self, transactional_id: str | None = None) -> AIOKafkaProducer:
        """Idempotent, or transactional: its start fences the one before it of the same id. Raises CLIENT_ERRORS."""
        producer = self._producer(transactional_id)
        try:
            with anyio.fail_after(self.options.commit_seconds):
                await producer.start()
        except BaseException:
            await discard(producer, self.stop_seconds)
            raise
        return producer

    def _producer(self, transactional_id: str | None) -> AIOKafkaProducer:
        options = self.options
        more: dict[str, Any] = {}
        if transactional_id is not None:
            more = {
                "transactional_id": transactional_id,
                "transaction_timeout_ms": int(options.transaction_seconds * 1000),
            }
        producer = AIOKafkaProducer(
            **self.common,
            **more,
            acks="all",
            enable_idempotence=True,
            compression_type=None if options.compression == "none" else options.compression,
            max_request_size=options.max_record_bytes,
            max_batch_size=BATCH_BYTES,
        )
        producer._message_accumulator._pending_batches = _Pending()
        return producer

    @asynccontextmanager
    async def consumer(self) -> AsyncIterator[AIOKafkaConsumer]:
        """A reader of partitions that it is told; sees what is committed, and nothing else."""
        consumer = AIOKafkaConsumer(
            **self.common,
            isolation_level="read_committed",
            enable_auto_commit=False,
            auto_offset_reset="none",
            max_partition_fetch_bytes=BATCH_BYTES,
        )
        try:
            await consumer.start()
            # Its tasks must have begun: the client can't stop one that has not.
            await cancel_shielded_checkpoint()
            yield consumer
        finally:
            with anyio.move_on_after(self.stop_seconds, shield=True):
                await consumer.stop()


async def discard(producer: AIOKafkaProducer, seconds: float = STOP_SECONDS) -> None:
    """Let go of a producer, whatever state it is in and whoever is told to stop meanwhile. `seconds`: for each part."""
    with anyio.CancelScope(shield=True):
        # Nothing is flushed: what has no answer is looked up, or sent again by another producer.
        producer._message_accumulator.fail_all(errors.ProducerClosed())
        _look_at_failures(producer)
        if not await _ended(producer.stop, seconds):
            # It waits for what will never be answered, or has stumbled over what was taken from it.
            await _ended(producer._sender.close, seconds)
            await _ended(producer.client.close, seconds)


async def _ended(stop: Callable[[], Awaitable[None]], seconds: float) -> bool:
    """Whether a part of the client stopped in time and in order; if not, it is left as it is."""
    try:
        with anyio.move_on_after(seconds) as patience:
            await stop()
    except Exception:  # a verdict: nobody uses this producer any more
        log.warning("a producer of Kafka did not stop in order", exc_info=True)
        return False
    return not patience.cancelled_caught


def _look_at_failures(producer: AIOKafkaProducer) -> None:
    """So that asyncio does not report futures of the client as forgotten, which nobody outside of it can see."""
    accumulator, transactions = producer._message_accumulator, producer._txn_manager
    waiting = [batch for batches in accumulator._batches.values() for batch in batches]
    batches = [*waiting, *accumulator._pending_batches]
    # A caller that was told to stop looks at no delivery any more.
    futures = [future for batch in batches for future in (batch._drain_waiter, batch.future)]
    for future in (*futures, transactions._transaction_waiter, transactions._task_waiter):
        if future is not None and future.done() and not future.cancelled():
            future.exception()
