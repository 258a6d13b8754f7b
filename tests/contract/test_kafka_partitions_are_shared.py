"""Members of a group share the partitions: each event is processed by one of them, whoever comes and goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import pytest
from aiokafka.admin import AIOKafkaAdminClient

from engine.adapters.kafka import share, topics
from engine.adapters.kafka.appender import Appender
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.group import Group
from engine.adapters.kafka.log import KafkaLog
from engine.adapters.kafka.options import KafkaOptions, Topic
from engine.adapters.kafka.records import event_message
from engine.adapters.kafka.share import Share
from engine.adapters.workers import helpers
from engine.ports.eventlog import Changes
from tests.contract.kafka_world import fresh_options, partition_records
from tests.contract.log_nouns import fact, submitted

pytestmark = pytest.mark.service("kafka")
PARTITIONS = 4


class Bell:
    """Rung whenever a member has done something."""

    def __init__(self) -> None:
        self._rung = anyio.Event()

    def ring(self) -> None:
        self._rung.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        with anyio.fail_after(30):
            while not condition():
                self._rung = anyio.Event()
                await self._rung.wait()


class Member:
    """An engine: a fact for each submission."""

    def __init__(self, bell: Bell) -> None:
        self._bell = bell
        self.owned: Counter[int] = Counter()
        """How often each partition was taken over."""
        self.holding: set[int] = set()
        self.seen: list[str] = []

    async def work(self, log: KafkaLog) -> None:
        self.owned[log.partition] += 1
        self.holding.add(log.partition)
        self._bell.ring()
        try:
            while True:
                records = await log.read()
                names = [record.event.execution.name for record in records if record.event]
                await log.commit(records, Changes(facts=[fact(name, 1) for name in names]))
                self.seen += names
                self._bell.ring()
        finally:
            self.holding.discard(log.partition)
            self._bell.ring()


@asynccontextmanager
async def member(options: KafkaOptions, bell: Bell) -> AsyncIterator[Member]:
    clients, found = Clients(options, {}), Member(bell)
    async with Appender.open(clients) as appender, Group.join(clients) as group, helpers() as tasks:
        tasks.start_soon(Share(clients, group, appender, found.work).run)
        yield found


async def submit(options: KafkaOptions, first: int, count: int) -> None:
    clients = Clients(options, {})
    async with Appender.open(clients) as appender:
        messages = [event_message(submitted(f"e{number}"), options) for number in range(first, first + count)]
        await appender.send(messages, lambda: None).wait()


async def facts(options: KafkaOptions) -> list[bytes | None]:
    clients = Clients(options, {})
    return [
        found.key
        for partition in range(PARTITIONS)
        for found in await partition_records(clients, Topic.HISTORY, partition)
    ]


def group_options() -> KafkaOptions:
    return fresh_options(partitions=PARTITIONS, session_seconds=3.0)


async def test_the_second_one_gets_half_and_the_others_go_on() -> None:
    bell = Bell()
    options = group_options()
    await topics.prepare(Clients(options, {}))
    async with member(options, bell) as first:
        await bell.until(lambda: first.holding == {0, 1, 2, 3})
        await submit(options, 0, 40)
        await bell.until(lambda: len(first.seen) == 40)
        async with member(options, bell) as second:
            await bell.until(lambda: len(second.holding) == 2)
            await bell.until(lambda: len(first.holding) == 2)
            assert first.holding | second.holding == {0, 1, 2, 3}
            assert set(first.owned.values()) == {1}, "what stays goes on without being taken over again"
            await submit(options, 40, 40)
            await bell.until(lambda: len(first.seen) + len(second.seen) == 80)
        await bell.until(lambda: first.holding == {0, 1, 2, 3})
        await submit(options, 80, 40)
        await bell.until(lambda: len(first.seen) + len(second.seen) == 120)
    written = await facts(options)
    assert len(written) == len(set(written)) == 120


async def test_more_members_than_partitions_wait_their_turn() -> None:
    bell = Bell()
    options = fresh_options(partitions=1, session_seconds=3.0)
    await topics.prepare(Clients(options, {}))
    async with member(options, bell) as second:
        async with member(options, bell) as first:
            await bell.until(lambda: bool(first.holding or second.holding))
            await submit(options, 0, 5)
            await bell.until(lambda: len(first.seen) + len(second.seen) == 5)
        await bell.until(lambda: second.holding == {0})
        await submit(options, 5, 5)
        await bell.until(lambda: len(first.seen) + len(second.seen) == 10)


async def test_a_partition_whose_work_lost_its_log_is_taken_over_again() -> None:
    bell = Bell()
    options = fresh_options(partitions=1, session_seconds=3.0)
    clients = Clients(options, {})
    await topics.prepare(clients)
    async with member(options, bell) as first:
        await bell.until(lambda: first.holding == {0})
        async with Appender.open(clients) as appender, KafkaLog.open(clients, 0, appender):
            """Somebody who does not ask the group fences it."""
            await submit(options, 0, 1)
            await bell.until(lambda: first.owned[0] == 2)
        await bell.until(lambda: first.seen == ["e0"])


async def test_tools_see_how_far_the_group_is(monkeypatch: pytest.MonkeyPatch) -> None:
    bell = Bell()
    monkeypatch.setattr(share, "TELL_SECONDS", 0.1)
    options = fresh_options(partitions=1, session_seconds=3.0)
    await topics.prepare(Clients(options, {}))
    async with member(options, bell) as first:
        await submit(options, 0, 7)
        await bell.until(lambda: len(first.seen) == 7)
        admin = AIOKafkaAdminClient(bootstrap_servers=options.bootstrap)
        await admin.start()
        try:
            with anyio.fail_after(20):
                while True:
                    told = await admin.list_consumer_group_offsets(options.group)
                    if [offset.offset for offset in told.values()] == [7]:
                        break
                    await anyio.sleep(0.05)
        finally:
            await admin.close()
