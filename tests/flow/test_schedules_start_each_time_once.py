"""Schedules of active launch plans: each time starts one execution, whatever happens to the engines that keep them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import looptime
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.adapters.memory.blobs import MemoryBlobs
from engine.adapters.memory.clock import START
from engine.model.errors import BadInput
from engine.model.ids import EntityId, EntityKind
from engine.registry.activation import activate, deactivate, every_active
from engine.registry.entries import Registry
from engine.registry.schedules import execution_name
from tests.flow.schedules import Shop, nightly, threads_take_no_time

__all__ = ["threads_take_no_time"]

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(30)]

# START is 2023-11-14 22:13:20 UTC.
HOURLY = ["2023-11-14T23:00:00Z", "2023-11-15T00:00:00Z", "2023-11-15T01:00:00Z"]
PLAN = EntityId(EntityKind.LAUNCH_PLAN, "p", "d", "m.nightly", "v1")


async def test_an_active_launch_plan_starts_at_its_times() -> None:
    shop = Shop()
    await shop.active(nightly("@hourly"))
    async with shop.serving():
        await asyncio.sleep(3 * 3600)
    assert await shop.outcomes() == HOURLY
    first, *_ = await shop.log.executions()
    assert first.id.name == execution_name(PLAN, datetime(2023, 11, 14, 23, tzinfo=UTC).timestamp())
    assert first.id.name.startswith("20231114t230000-nightly-p-d-m-")
    assert first.submitted_at == datetime(2023, 11, 14, 23, tzinfo=UTC).timestamp()


async def test_a_rate_counts_from_the_activation() -> None:
    shop = Shop()
    await asyncio.sleep(7)
    await shop.active(nightly("10"))
    async with shop.serving():
        await asyncio.sleep(1900)
    assert await shop.outcomes() == ["2023-11-14T22:23:27Z", "2023-11-14T22:33:27Z", "2023-11-14T22:43:27Z"]


async def test_what_was_missed_is_made_up_for() -> None:
    shop = Shop()
    await shop.active(nightly("@hourly"))
    async with shop.serving():
        await asyncio.sleep(3600)
    await asyncio.sleep(2 * 3600)
    async with shop.serving():
        await asyncio.sleep(60)
    assert await shop.outcomes() == HOURLY
    assert [record.submitted_at - START for record in await shop.log.executions()] == [2800.0, 10800.0, 10800.0]


async def test_of_too_many_missed_times_the_newest_count(caplog: pytest.LogCaptureFixture) -> None:
    shop = Shop(catch_up=2)
    await shop.active(nightly("*/10 * * * *"))
    await asyncio.sleep(3600)
    async with shop.serving():
        await asyncio.sleep(1)
    assert await shop.outcomes() == ["2023-11-14T23:00:00Z", "2023-11-14T23:10:00Z"]
    assert "more times were missed than are made up for" in caplog.text


async def test_no_time_before_the_activation_is_made_up_for() -> None:
    shop = Shop()
    plan = nightly("@hourly")
    await shop.active(plan)
    await deactivate(shop.registry, PLAN)
    await asyncio.sleep(2 * 3600)
    entry = (await shop.registry.find([PLAN]))[PLAN]
    await activate(shop.registry, entry, shop.clock.now())
    async with shop.serving():
        await asyncio.sleep(3600)
    assert await shop.outcomes() == HOURLY[2:]


async def test_a_bell_tells_of_an_activation() -> None:
    shop = Shop()
    async with shop.serving() as engine:
        await asyncio.sleep(60)
        await shop.active(nightly("@hourly"))
        engine.bell.ring()
        await asyncio.sleep(3600)
        assert await shop.outcomes() == HOURLY[:1]
        await deactivate(shop.registry, PLAN)
        engine.bell.ring()
        await asyncio.sleep(3600)
    assert await shop.outcomes() == HOURLY[:1]


async def test_another_version_takes_over_without_a_second_start() -> None:
    shop = Shop()
    await shop.active(nightly("@hourly"))
    async with shop.serving() as engine:
        await asyncio.sleep(3600)
        await shop.active(nightly("@hourly"), version="v2")
        engine.bell.ring()
        await asyncio.sleep(3600)
    records = await shop.log.executions()
    assert [record.entity.version for record in records] == ["v1", "v2"]
    assert [active.id.version for active in await every_active(shop.registry)] == ["v2"]
    assert await shop.outcomes() == HOURLY[:2]


async def test_two_services_on_one_log_start_each_time_once() -> None:
    shop = Shop()
    await shop.active(nightly("@hourly"))
    async with shop.serving() as engine, shop.serving_beside(engine):
        await asyncio.sleep(3 * 3600)
    assert await shop.outcomes() == HOURLY


async def test_a_launch_plan_without_a_schedule_may_be_active() -> None:
    shop = Shop()
    plan = nightly()
    plan.spec.ClearField("entity_metadata")
    await shop.active(plan)
    async with shop.serving():
        await asyncio.sleep(48 * 3600)
    assert await shop.outcomes() == []


async def test_a_schedule_that_can_t_be_kept_can_t_be_activated() -> None:
    shop = Shop()
    with pytest.raises(BadInput) as refused:
        await shop.active(nightly("0 25 * * *"))
    assert str(refused.value).startswith(
        "launch plan m.nightly, version v1, can't be activated: '0 25 * * *' is no cron expression: "
    )
    assert await every_active(shop.registry) == []


class CutsAtMarks(MemoryBlobs):
    """The power goes when a time has been submitted, and before it is noted that it was."""

    async def put(self, uri: str, data: bytes, *, durable: bool = False) -> None:
        if "/fired/" in uri:
            raise PowerCut
        await super().put(uri, data, durable=durable)


async def test_a_time_that_was_submitted_and_not_noted_is_not_started_again() -> None:
    shop = Shop()
    await shop.active(nightly("@hourly"))
    blobs = CutsAtMarks()
    blobs.objects = shop.blobs.objects
    for _ in range(3):
        whole, shop.registry = shop.registry, Registry(blobs)
        with pytest.raises(ExceptionGroup):
            async with shop.serving():
                await asyncio.sleep(3600)
        shop.registry = whole
        shop.crash()
    async with shop.serving():
        await asyncio.sleep(10)
    assert await shop.outcomes() == HOURLY[:1]


Stay = tuple[int, int, bool]
"""Seconds that an engine works, seconds that nobody does, and whether it ends by a crash."""
SECONDS = st.integers(0, 400)


def in_fake_time(test: object) -> None:
    """Run a coroutine on a loop of its own whose clock jumps."""
    with asyncio.Runner(loop_factory=lambda: looptime.new_event_loop(start=0)) as runner:
        runner.run(test)  # type: ignore[arg-type]


@pytest.mark.timeout(120)
@settings(max_examples=60, deadline=None)
@example([(0, 0, True)])
@example([(100, 50, True), (100, 200, False)])
@given(st.lists(st.tuples(SECONDS, SECONDS, st.booleans()), min_size=1, max_size=6))
def test_whatever_restarts_happen_each_time_starts_once(stays: list[Stay]) -> None:
    """A cron of every minute and a rate of two, over engines that come, go and crash."""

    async def live() -> None:
        shop = Shop(catch_up=10_000)
        await shop.active(nightly("*/1 * * * *", name="m.cron"))
        await shop.active(nightly("2", name="m.rate"))
        for works, rests, crash in stays:
            try:
                async with shop.serving():
                    await asyncio.sleep(works)
                    if crash:
                        raise PowerCut
            except* PowerCut:
                shop.crash()
            await asyncio.sleep(rests)
        async with shop.serving():
            await asyncio.sleep(0.5)
        gone = int(shop.clock.now() - START)
        cron = [START + second for second in range(1, gone + 1) if (START + second) % 60 == 0]
        rate = [START + second for second in range(120, gone + 1, 120)]
        expected = sorted(datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for at in cron + rate)
        assert sorted(await shop.outcomes()) == expected
        assert len({record.id for record in await shop.log.executions()}) == len(expected)

    in_fake_time(live())


class PowerCut(Exception):
    """Nothing after it happens."""
