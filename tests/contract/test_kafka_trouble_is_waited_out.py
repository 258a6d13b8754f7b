"""The broker is silent, or dies and comes back: engines wait, then go on; nothing is lost and nothing comes twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import anyio.to_thread
import pytest

from engine.adapters.kafka import topics
from engine.adapters.kafka.appender import Appender
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.options import Topic
from engine.ports.eventlog import Changes
from tests.backing import kafka
from tests.backing.server import Server
from tests.contract.kafka_world import KafkaWorld, fresh_options
from tests.contract.kept import Kept
from tests.contract.log_nouns import execution, fact, named, submitted

pytestmark = pytest.mark.service("kafka")
COUNT = 60


@asynccontextmanager
async def own_broker() -> AsyncIterator[tuple[Server, KafkaWorld]]:
    """A broker that may be hurt."""
    broker, address = await anyio.to_thread.run_sync(kafka.start)
    try:
        patient = replace(fresh_options(), bootstrap=address)
        # A fresh broker on a busy machine takes its time over topics.
        await topics.prepare(Clients(patient, {}))
        clients = Clients(replace(patient, request_seconds=1.0, commit_seconds=2.0), {})
        appender = Kept(Appender.open(clients))
        world = KafkaWorld(clients, await appender.value())
        world.log = await world.open()
        try:
            yield broker, world
        finally:
            await world.let_go()
            await appender.close()
    finally:
        await anyio.to_thread.run_sync(broker.stop)


async def work(world: KafkaWorld, done: asyncio.Event) -> None:
    """An engine: each submission becomes an execution, a fact and a follow-up."""
    seen = 0
    while seen < COUNT:
        records = await world.log.read()
        changes = Changes(
            executions=[execution(record.event.execution.name) for record in records if record.event],
            facts=[fact(record.event.execution.name, 1) for record in records if record.event],
        )
        await world.log.commit(records, changes)
        seen += len(records)
    done.set()


async def submit(world: KafkaWorld, begun: asyncio.Event) -> None:
    for number in range(COUNT):
        await world.log.append([submitted(f"e{number}")], durable=True)
        if number == COUNT // 3:
            begun.set()


async def everything_takes_place_once(world: KafkaWorld, trouble: Callable[[], Awaitable[None]]) -> None:
    """Work goes on before, through and after the trouble."""
    begun, done = asyncio.Event(), asyncio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work, world, done)
        tasks.start_soon(submit, world, begun)
        await begun.wait()
        await trouble()
        with anyio.fail_after(200):
            await done.wait()
    facts = [found.key for found in await world.records(Topic.HISTORY)]
    assert len(facts) == len(set(facts)) == COUNT
    await world.crash()
    assert len(await world.log.find([named(f"e{number}") for number in range(COUNT)])) == COUNT


@pytest.mark.timeout(300)
async def test_a_broker_that_hangs_for_some_seconds() -> None:
    async with own_broker() as (broker, world):

        async def hang() -> None:
            broker.pause()
            # Longer than any one call waits for its answer.
            await anyio.sleep(4)
            broker.go_on()

        await everything_takes_place_once(world, hang)


@pytest.mark.timeout(300)
async def test_a_broker_that_dies_and_comes_back() -> None:
    async with own_broker() as (broker, world):

        async def die_and_return() -> None:
            await anyio.to_thread.run_sync(broker.kill)
            await anyio.to_thread.run_sync(kafka.run, broker, world.clients.options.bootstrap)

        await everything_takes_place_once(world, die_and_return)
