"""Processes of a group come and go: every time of a schedule starts one execution, whoever keeps the schedules then."""

from __future__ import annotations

from functools import partial

import pytest

from engine.fleet import Fleet
from engine.registry.activation import activate
from engine.registry.registering import register_package
from engine.registry.schedules import Schedules, execution_name
from tests import packages
from tests.flow.schedules import echo, nightly
from tests.service.fleets_here import Ends, Here
from tests.service.topic_evidence import gather

pytestmark = pytest.mark.service("kafka")
LOOK_SECONDS = 0.1


async def test_no_time_is_missed_and_none_comes_twice() -> None:
    here, ends = Here(partitions=3), Ends()
    package = packages.registered(echo(), nightly("1"), version="v1")
    done = await register_package(here.registry, package, "package", "", here.clock.now())
    (id,) = done.program.launch_plans
    since = (await activate(here.registry, (await here.registry.find([id]))[id], here.clock.now())).since

    async def keep(fleet: Fleet) -> None:
        await Schedules(here.registry, here.clock, 100, LOOK_SECONDS).keep(fleet)

    serve = partial(here.fleet, duties=[keep])
    async with serve("a") as first:
        first.watchers.add(ends.see)
        await ends.more(2)
        async with serve("b") as second:
            second.watchers.add(ends.see)
            await ends.more(3)
        await ends.more(1)
    async with serve("b") as again:
        again.watchers.add(ends.see)
        await ends.more(2)
        async with serve("a"):
            await ends.more(1)
    evidence = await gather(here.clients)
    ids = {fact.execution for fact in evidence.facts}
    kept = [execution_name(id, since + 60 * number) for number in range(1, len(ids) + 1)]
    assert sorted(each.name for each in ids) == sorted(kept)
    assert len(ids) >= 9
    assert evidence.problems([each for each in ids if each in evidence.ended()]) == []
