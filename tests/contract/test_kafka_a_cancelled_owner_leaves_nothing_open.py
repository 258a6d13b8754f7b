"""User case S30: an owner that is cancelled while it reads or commits leaves no transaction open and the group once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import anyio
import pytest
from aiokafka.client import AIOKafkaClient

from engine.adapters.kafka import sending, topics
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.options import Topic
from engine.ports.eventlog import Changes
from tests.contract.kafka_world import fresh_options, kafka_world, partition_records
from tests.contract.log_nouns import execution, fact, named, submitted
from tests.contract.test_kafka_partitions_are_shared import Bell, member, submit

pytestmark = [pytest.mark.service("kafka"), pytest.mark.timeout(120)]
FIFTY = [f"e{number}" for number in range(50)]
PATIENCE_SECONDS = 60.0


def decided(names: Sequence[str]) -> Changes:
    return Changes(executions=[execution(name) for name in names], facts=[fact(name, 1) for name in names])


async def nothing_is_open(clients: Clients) -> None:
    """Readers of what is committed get to the end of each topic, long before the broker gives a transaction up."""
    with anyio.fail_after(clients.options.transaction_seconds / 2):
        for which in (Topic.STATE, Topic.HISTORY, Topic.EVENTS):
            await partition_records(clients, which, 0)


@pytest.mark.parametrize("when", ["begin", "send", "commit"])
async def test_while_it_commits_fifty_events(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scope = anyio.CancelScope()
    deliver, transact = sending.deliver, sending.transact

    async def delivers(*words: object) -> object:
        if when == "send":
            scope.cancel()
        done = await deliver(*words)  # type: ignore[arg-type]
        if when == "commit":
            scope.cancel()
        return done

    async def transacts(*words: object) -> object:
        if when == "begin":
            scope.cancel()
        return await transact(*words)  # type: ignore[arg-type]

    async with kafka_world(transaction_seconds=60.0) as world:
        await world.log.append([submitted(name) for name in FIFTY], durable=True)
        with monkeypatch.context() as patch, scope:
            patch.setattr(sending, "deliver", delivers)
            patch.setattr("engine.adapters.kafka.transactions.transact", transacts)
            seen = 0
            while seen < len(FIFTY):
                records = await world.log.read()
                names = [record.event.execution.name for record in records if record.event]
                await world.log.commit(records, decided(names))
                seen += len(names)
        assert scope.cancel_called
        await nothing_is_open(world.clients)
        await world.crash()
        stored = await world.log.find([named(name) for name in FIFTY])
        assert len(await world.records(Topic.HISTORY)) == len(stored)
        left = len(FIFTY) - len(stored)
        waiting = 0
        with anyio.fail_after(PATIENCE_SECONDS):
            while waiting < left:
                records = await world.log.read()
                await world.log.commit(records, Changes())
                waiting += len(records)
        assert waiting == left, "what was committed is not read again, what was not is"


async def test_while_it_waits_for_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """The session is longer than the test: the other one has all of it because the first one has left."""
    left: list[str] = []
    send = AIOKafkaClient.send

    async def sends(client: AIOKafkaClient, node: int, request: Any, **more: Any) -> Any:
        if type(request).__name__.startswith("LeaveGroup"):
            left.append(request)
        return await send(client, node, request, **more)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(AIOKafkaClient, "send", sends)
    options, bell = fresh_options(partitions=4, session_seconds=300.0), Bell()
    await topics.prepare(Clients(options, {}))
    async with member(replace(options, instance="b"), bell) as second:
        with anyio.CancelScope() as scope:
            async with member(replace(options, instance="a"), bell) as first:
                await bell.until(lambda: (len(first.holding), len(second.holding)) == (2, 2))
                scope.cancel()
                await anyio.sleep_forever()
        assert scope.cancelled_caught
        assert (first.holding, len(left)) == (set(), 1)
        await bell.until(lambda: len(second.holding) == 4)
        await submit(options, 0, 50)
        await bell.until(lambda: len(second.seen) == 50)
