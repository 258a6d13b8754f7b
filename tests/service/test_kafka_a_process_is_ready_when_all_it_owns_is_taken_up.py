"""What was left in a partition is taken up before its process calls itself ready; the others do not wait for it."""

from __future__ import annotations

import anyio
import pytest

from engine.adapters.kafka import topics
from engine.adapters.kafka.appender import Appender
from engine.adapters.kafka.keys import partition_of
from engine.adapters.kafka.records import event_message
from engine.gateway.partitions import Standing
from engine.model.events import ExecutionSubmitted
from engine.model.ids import ExecutionId
from engine.registry.registering import register_package
from tests import packages
from tests.flow.schedules import echo, nightly
from tests.service.fleets_here import Here, until

pytestmark = pytest.mark.service("kafka")


async def test_it_is_ready_when_the_last_one_is() -> None:
    here = Here(partitions=3)
    package = packages.registered(echo(), nightly(kickoff=False), version="v1")
    done = await register_package(here.registry, package, "package", "", 1.0)
    (plan,) = done.program.launch_plans
    (entry,) = (await here.registry.find([plan])).values()
    asked = ExecutionId("p", "d", "left")
    where = partition_of(asked, 3)
    await topics.prepare(here.clients)
    async with Appender.open(here.clients) as appender:
        event = ExecutionSubmitted(asked, plan, entry.package, run="r")
        await appender.send([event_message(event, here.options)], lambda: None).wait()
    here.may_load = anyio.Event()
    async with here.fleet("a") as fleet:
        assert (fleet.ready, fleet.standing) == (False, Standing(0, 0, 0, {})), "the group has not said anything yet"
        await until(lambda: len(fleet.engines) == 2)
        lags = dict.fromkeys({0, 1, 2} - {where}, 0)
        assert (fleet.ready, fleet.standing) == (False, Standing(1, 0, 1, lags))
        here.may_load.set()
        await until(lambda: fleet.ready)
        assert fleet.standing == Standing(1, 0, 0, dict.fromkeys(range(3), 0))
