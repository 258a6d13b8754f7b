"""A broker that is away is one line in the log when that begins, and one when it is over, however many wait for it."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import anyio
import pytest
from aiokafka import AIOKafkaProducer, errors
from aiokafka.producer.message_accumulator import MessageBatch
from aiokafka.structs import TopicPartition

from engine.adapters.kafka import faults
from engine.adapters.kafka.clients import Clients, discard
from engine.adapters.kafka.options import KafkaOptions
from engine.adapters.kafka.patience import Patience, persist
from engine.model.errors import LogUnreachable

pytestmark = pytest.mark.looptime


async def test_many_that_wait_are_told_once_at_the_beginning_and_together_at_the_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    works = anyio.Event()

    async def work() -> int:
        if not works.is_set():
            raise errors.KafkaConnectionError("nobody there")
        return 7

    found: list[int] = []

    async def one(number: int) -> None:
        found.append(await persist(f"partition {number}", work))

    with caplog.at_level(logging.WARNING):
        async with anyio.create_task_group() as tasks:
            for number in range(3):
                tasks.start_soon(one, number)
            await anyio.sleep(60)
            works.set()
    assert found == [7, 7, 7]
    began, ended = caplog.records
    assert (began.message, ended.message) == (
        "Kafka is in trouble, will try again until it is over",
        "Kafka works again",
    )
    assert vars(began)["cause"] == "KafkaConnectionError: nobody there"
    assert vars(ended)["waited"] == "partition 0, partition 1, partition 2"


async def test_a_partition_that_moves_is_no_trouble(caplog: pytest.LogCaptureFixture) -> None:
    patience = Patience("partition 0")
    with caplog.at_level(logging.WARNING):
        await patience.wait(errors.ProducerFenced())
        patience.over()
    assert caplog.records == []


def test_an_error_is_named_once() -> None:
    assert faults.describe(errors.KafkaConnectionError("x")) == "KafkaConnectionError: x"
    assert faults.describe(TimeoutError()) == "TimeoutError"
    assert faults.describe(OSError("x")) == "OSError: x"


def test_nobody_at_the_address_is_said_in_words() -> None:
    cause = errors.KafkaConnectionError("Unable to bootstrap from [('127.0.0.1', 9, <AddressFamily.AF_INET: 2>)]")
    found = faults.unusable("127.0.0.1:9", cause, "nothing was started")
    assert isinstance(found, LogUnreachable)
    assert str(found).startswith("Kafka at 127.0.0.1:9 can't be reached (kafka.bootstrap): no broker answers there")
    assert "; nothing was started. " in str(found)
    assert "AddressFamily" not in str(found)
    refused = faults.unusable("127.0.0.1:9", errors.TopicAuthorizationFailedError("t"), "nothing was started")
    assert not isinstance(refused, LogUnreachable)


async def test_nothing_of_a_producer_that_is_discarded_is_reported_as_forgotten() -> None:
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    producer: AIOKafkaProducer = Clients(KafkaOptions("127.0.0.1:9"), {})._producer(None)
    accumulator, place = producer._message_accumulator, TopicPartition("t", 0)
    waiting: list[MessageBatch] = []
    for number in range(2):
        batch = accumulator._append_batch(producer.create_batch(), TopicPartition("t", number))
        # As `send_batch` gives it, to a caller that is told to stop.
        asyncio.shield(batch.future).cancel()
        waiting.append(batch)
    # One of them was sent before and waits to be sent again.
    producer._txn_manager.set_pid_and_epoch(1, 0)
    accumulator.reenqueue(accumulator._pop_batch(place))
    await discard(producer)
    del waiting, batch, accumulator, producer
    await asyncio.sleep(0)
    assert reported == []
