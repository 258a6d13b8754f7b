"""Whatever happens to a commit, it takes place once; what runs meanwhile is not disturbed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition, errors

from engine.adapters.kafka import sending, transactions
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.sending import Groups
from engine.model.errors import LogFailed
from engine.ports.eventlog import Changes
from tests.contract.kafka_world import kafka_world
from tests.contract.log_nouns import execution, fact, named, node, submitted, succeeded, take

pytestmark = pytest.mark.service("kafka")
Transact = Callable[[AIOKafkaProducer, Groups], Awaitable[dict[TopicPartition, int]]]


def before(error: Exception) -> Transact:
    async def fail(producer: AIOKafkaProducer, groups: Groups) -> dict[TopicPartition, int]:
        raise error

    return fail


def halfway(error: Exception) -> Transact:
    async def fail(producer: AIOKafkaProducer, groups: Groups) -> dict[TopicPartition, int]:
        await producer.begin_transaction()
        await sending.deliver(producer, groups)
        raise error

    return fail


def after(error: Exception) -> Transact:
    async def fail(producer: AIOKafkaProducer, groups: Groups) -> dict[TopicPartition, int]:
        await sending.transact(producer, groups)
        raise error

    return fail


@pytest.mark.parametrize(
    "trouble",
    [
        before(errors.KafkaConnectionError()),
        before(errors.ProducerFenced()),
        before(AssertionError("state")),
        halfway(errors.OutOfOrderSequenceNumber()),
        halfway(TimeoutError()),
        halfway(errors.ProducerFenced()),
        after(TimeoutError()),
        after(errors.KafkaError("Unexpected error during batch delivery")),
        after(errors.ProducerFenced()),
    ],
    ids=lambda trouble: trouble.__qualname__.partition(".")[0],
)
@pytest.mark.parametrize("times", [1, 3])
async def test_it_takes_place_once(trouble: Transact, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    left = times

    async def transact(producer: AIOKafkaProducer, groups: Groups) -> dict[TopicPartition, int]:
        nonlocal left
        left -= 1
        return await (trouble if left >= 0 else sending.transact)(producer, groups)

    async with kafka_world() as world:
        await world.log.append([submitted("a")], durable=True)
        await world.log.append([succeeded("a")], durable=False)
        monkeypatch.setattr(transactions, "transact", transact)
        changes = Changes(
            executions=[execution("a")],
            nodes=[(named("a"), node("n0"))],
            facts=[fact("a", 1), fact("a", 2)],
            events=[submitted("child")],
        )
        assert await take(world.log, changes, 2) == [submitted("a"), succeeded("a")]
        assert await world.log.history(named("a")) == [fact("a", 1), fact("a", 2)]
        assert len(await world.records(Topic.HISTORY)) == 2
        assert await take(world.log) == [submitted("child")]
        await world.crash()
        assert await world.log.find([named("a")]) == {named("a"): execution("a")}
        await world.log.append([submitted("later")], durable=True)
        assert await take(world.log) == [submitted("later")]


async def test_a_broker_that_shows_less_than_was_committed_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does when it has just come back: what it says of a topic's end is no proof of what is not there."""
    answers = [after(TimeoutError())]

    async def transact(producer: AIOKafkaProducer, groups: Groups) -> dict[TopicPartition, int]:
        return await (answers.pop() if answers else sending.transact)(producer, groups)

    async def nothing_is_there(self: AIOKafkaConsumer, partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, 0)

    async with kafka_world() as world:
        with monkeypatch.context() as patch:
            patch.setattr(transactions, "transact", transact)
            patch.setattr(AIOKafkaConsumer, "end_offsets", nothing_is_there)
            await world.log.commit((), Changes(executions=[execution("a")], facts=[fact("a", 1)]))
            await world.crash()
            assert await world.log.find([named("a")]) == {named("a"): execution("a")}
        assert len(await world.records(Topic.HISTORY)) == 1


async def test_what_kafka_refuses_for_good_is_no_endless_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    async with kafka_world() as world:
        monkeypatch.setattr(transactions, "transact", before(errors.TopicAuthorizationFailedError("x")))
        with anyio.fail_after(5), pytest.raises(LogFailed, match="refuses partition 0: TopicAuthorizationFailedError"):
            await world.log.commit((), Changes(facts=[fact("a", 1)]))


async def test_a_commit_that_is_cancelled_is_there_as_a_whole_or_not_at_all() -> None:
    async with kafka_world() as world:
        for number in range(8):
            with anyio.move_on_after(0.001 * number):
                await world.log.commit((), Changes(executions=[execution(f"e{number}")], facts=[fact(f"e{number}", 1)]))
        await world.crash()
        for number in range(8):
            stored = await world.log.find([named(f"e{number}")])
            assert len(await world.log.history(named(f"e{number}"))) == len(stored)
