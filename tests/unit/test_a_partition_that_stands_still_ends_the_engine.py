"""User case S32: what waits and is not worked on ends the process; an idle topic and a broker that is away do not."""

from __future__ import annotations

from collections.abc import Mapping

import anyio
import pytest
from aiokafka.errors import KafkaConnectionError

from engine.adapters.kafka.watchdog import Watchdog
from engine.model.errors import LogFailed

pytestmark = pytest.mark.looptime


class Log:
    def __init__(self) -> None:
        self.fetched = self.committed = self.tries = 0

    @property
    def marks(self) -> tuple[int, int]:
        return self.fetched, self.committed

    def is_done(self, end: int) -> bool:
        return self.fetched >= end and self.committed >= self.fetched


class Ends:
    def __init__(self, **ends: int) -> None:
        self.found = {int(name[1:]): end for name, end in ends.items()}
        self.away = False

    async def ends(self, partitions: list[int]) -> Mapping[int, int]:
        if self.away:
            raise KafkaConnectionError
        return {partition: self.found[partition] for partition in partitions}


async def watch(ends: Ends, logs: dict[int, Log], seconds: float) -> None:
    with anyio.move_on_after(seconds):
        await Watchdog(ends, logs, 60).run()


@pytest.mark.parametrize(("fetched", "committed"), [(3, 3), (10, 3)])
async def test_one_that_does_not_read_or_does_not_commit(fetched: int, committed: int) -> None:
    log, begun = Log(), anyio.current_time()
    log.fetched, log.committed = fetched, committed
    with pytest.raises(LogFailed, match=f"partition 4 of the events stands still: {fetched} of 10 have been read"):
        await watch(Ends(p4=10), {4: log}, 1000)
    assert 60 <= anyio.current_time() - begun < 80


async def test_an_idle_one_and_one_that_moves_are_left_alone() -> None:
    idle, busy = Log(), Log()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch, Ends(p0=0, p1=10**9), {0: idle, 1: busy}, 500)
        for _ in range(10):
            await anyio.sleep(50)
            busy.committed += 1


async def test_one_whose_writes_are_refused_waits_for_as_long_as_it_takes_but_must_try_again() -> None:
    log, begun = Log(), anyio.current_time()
    log.fetched = 10
    async with anyio.create_task_group() as tasks:

        async def try_again() -> None:
            for _ in range(50):
                await anyio.sleep(40)
                log.tries += 1

        tasks.start_soon(try_again)
        with pytest.raises(LogFailed, match="partition 4 of the events stands still"):
            await watch(Ends(p4=10), {4: log}, 10_000)
    assert 2060 <= anyio.current_time() - begun < 2080


async def test_while_the_broker_is_away_nobody_is_to_blame() -> None:
    ends, log = Ends(p0=10), Log()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch, ends, {0: log}, 500)
        await anyio.sleep(50)
        ends.away = True
        await anyio.sleep(300)
        ends.away = False
        await anyio.sleep(50)
        log.fetched = log.committed = 10


async def test_one_that_was_taken_over_again_begins_anew() -> None:
    logs = {0: Log()}
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch, Ends(p0=10), logs, 100)
        await anyio.sleep(50)
        logs[0] = Log()
