"""Whichever processes are asked for a name at once: one submission gets it, and the same again is the same."""

from __future__ import annotations

import anyio
import pytest

from engine.fleet import Fleet
from engine.model.errors import BadInput
from engine.model.events import ExecutionSubmitted
from engine.model.ids import ExecutionId
from engine.registry.registering import register_package
from engine.wire.inputs import inputs_for
from tests import packages
from tests.flow.schedules import echo, nightly
from tests.service.fleets_here import Ends, Here, until
from tests.service.topic_evidence import gather

pytestmark = pytest.mark.service("kafka")


async def test_one_of_two_submissions_gets_the_name() -> None:
    here = Here(partitions=2)
    done = await register_package(
        here.registry, packages.registered(echo(), nightly(kickoff=False), version="v1"), "package", "", 1.0
    )
    (plan,) = done.program.launch_plans.values()
    (entry,) = (await here.registry.find([plan.id])).values()
    refused: list[str] = []
    ends = Ends()

    async def submit(fleet: Fleet, name: str, day: str) -> None:
        asked = ExecutionSubmitted(ExecutionId("p", "d", name), plan.id, entry.package)
        try:
            await fleet.accept(asked, inputs_for(plan, {"at": f"2026-01-{day}T00:00:00Z"}))
        except BadInput as problem:
            refused.append(str(problem))

    async with here.fleet("a") as first, here.fleet("b") as second:
        await until(lambda: all(fleet.ready and fleet.engines for fleet in (first, second)))
        for fleet in (first, second):
            fleet.watchers.add(ends.see)
        async with anyio.create_task_group() as group:
            for number in range(20):
                for one, day in ((first, "01"), (second, "02"), (first, "01"), (second, "02")):
                    group.start_soon(submit, one, f"e{number}", day)
        await ends.all(20)
    assert len(refused) == 40, "two of each four"
    assert all("exists already" in problem for problem in refused)
    evidence = await gather(here.clients)
    assert evidence.letters == []
    assert len({fact.execution for fact in evidence.facts}) == 20
