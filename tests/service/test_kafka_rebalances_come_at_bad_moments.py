"""Processes come and go while others take over what somebody left: every execution ends once all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.fleets import Fleets

pytestmark = [pytest.mark.service("kafka"), pytest.mark.timeout(240)]


async def test_of_more_processes_than_partitions_the_others_stand_by(tmp_path: Path) -> None:
    async with Fleets.open(tmp_path, partitions=2) as fleets:
        for name in ("a", "b", "c"):
            await fleets.start(name)
        for name in ("a", "b", "c"):
            await fleets.members[name].until_it_owns(0, 1)
        ids = await fleets.submit(range(20))
        await fleets.until_ended(20)
        idle = next(name for name, member in fleets.members.items() if not member.owned)
        busy = sorted(fleets.members.keys() - {idle})
        await fleets.kill(busy[0])
        await fleets.members[idle].until_it_owns(1)
        ids += await fleets.submit(range(20, 40))
        await fleets.until_ended(40)
        for name in (idle, busy[1]):
            assert await fleets.stop(name) == 0
        assert (await fleets.evidence()).problems(ids) == []


async def test_a_process_comes_while_another_one_takes_up_what_was_left(tmp_path: Path) -> None:
    async with Fleets.open(tmp_path, partitions=4) as fleets:
        first = await fleets.start("a", task_seconds=60.0)
        await first.until_it_owns(4)
        ids = await fleets.submit(range(40))
        await fleets.until_live(40)
        await fleets.kill("a")
        slow = await fleets.start("b", load_seconds=6.0)
        await fleets.until_claimed_by(2)
        await fleets.start("c")
        await fleets.members["c"].until_it_owns(2)
        await slow.until_it_owns(2)
        await fleets.until_ended(40)
        for name in ("b", "c"):
            assert await fleets.stop(name) == 0
        evidence = await fleets.evidence()
        assert evidence.problems(ids) == []
        assert evidence.takeovers >= 10, "four at the start, four of b, two of c"


async def test_two_rebalances_in_a_row(tmp_path: Path) -> None:
    async with Fleets.open(tmp_path, partitions=4) as fleets:
        await (await fleets.start("a", task_seconds=0.2)).until_it_owns(4)
        ids = await fleets.submit(range(40))
        await fleets.start("b", task_seconds=0.2)
        await fleets.start("c", task_seconds=0.2)
        await fleets.members["c"].until_it_owns(1, 2)
        assert await fleets.stop("a") == 0
        assert await fleets.stop("c") == 0
        await fleets.members["b"].until_it_owns(4)
        await fleets.until_ended(40)
        assert await fleets.stop("b") == 0
        assert (await fleets.evidence()).problems(ids) == []
