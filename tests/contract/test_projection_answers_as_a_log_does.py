from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from engine.model.errors import LogFailed
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Execution, Fact, Snapshot
from engine.ports.eventlog import Selection
from engine.ports.projection import Update
from tests.contract.log_nouns import execution, fact, named, node
from tests.contract.projected import KEEP_SECONDS, Told, projection_in, update


async def test_what_was_absorbed_is_there_and_its_positions_with_it(tmp_path: Path) -> None:
    told, done = Told(), node("n0", NodePhase.SUCCEEDED)
    async with projection_in(tmp_path, told) as projection:
        assert projection.positions == {}
        nodes = [(named("a"), node("n1")), (named("a"), node("n0"))]
        await projection.absorb(update([execution("a")], nodes, [fact("a", 1), fact("a", 2)], one=3, two=9))
        await projection.absorb(update([], [(named("a"), done)], [fact("a", 3)], one=4))
        assert (told.executions, told.facts) == ([execution("a")], [fact("a", 1), fact("a", 2), fact("a", 3)])
    async with projection_in(tmp_path, told) as projection:
        assert projection.positions == {"one": 4, "two": 9}
        assert await projection.snapshot(named("a")) == Snapshot(execution("a"), (done, node("n1")))
        assert await projection.history(named("a"), after=1) == [fact("a", 2), fact("a", 3)]
        assert await projection.find([named("a"), named("b")]) == {named("a"): execution("a")}
        assert await projection.select(Selection(phases=("RUNNING",))) == [execution("a")]


async def test_a_node_that_was_deleted_is_gone(tmp_path: Path) -> None:
    async with projection_in(tmp_path, Told()) as projection:
        await projection.absorb(update([execution("a")], [(named("a"), node("n0")), (named("a"), node("n1"))]))
        await projection.absorb(Update(nodes={(named("a"), "n0"): None}))
        assert await projection.snapshot(named("a")) == Snapshot(execution("a"), (node("n1"),))


def run(at: float, phase: ExecutionPhase = ExecutionPhase.SUCCEEDED) -> Execution:
    """A run of the name `a`."""
    return structs.replace(execution("a", phase), submitted_at=at, ended_at=at + 1.0, package=f"of {at}")


def facts(at: float, *numbers: int) -> list[Fact]:
    return [structs.replace(fact("a", number), at=at) for number in numbers]


async def test_a_forgotten_execution_is_gone_with_all_that_belongs_to_it(tmp_path: Path) -> None:
    async with projection_in(tmp_path, Told()) as projection:
        await projection.absorb(update([run(1.0)], [(named("a"), node("n0"))], facts(2.0, 1, 2, 3)))
        await projection.absorb(update(forgotten=[named("a"), named("nobody")]))
        assert await projection.snapshot(named("a")) is None
        assert await projection.history(named("a")) == []
        await projection.absorb(update([run(10.0)]))
        assert await projection.snapshot(named("a")) == Snapshot(run(10.0))


@pytest.mark.parametrize("order", ["facts first", "at once", "states first"])
async def test_a_name_that_is_used_again_shows_its_later_run_only(tmp_path: Path, order: str) -> None:
    later = facts(11.0, 1, 2)
    async with projection_in(tmp_path, Told()) as projection:
        await projection.absorb(update([run(1.0)], facts=facts(2.0, 1, 2, 3)))
        states = update([run(10.0, ExecutionPhase.RUNNING)], forgotten=[named("a")])
        if order == "at once":
            states.facts = update(facts=later).facts
            await projection.absorb(states)
        else:
            both = [update(facts=later), states]
            for each in both if order == "facts first" else reversed(both):
                await projection.absorb(each)
        assert await projection.history(named("a")) == later
        assert await projection.find([named("a")]) == {named("a"): run(10.0, ExecutionPhase.RUNNING)}


async def test_what_ended_long_ago_is_deleted_and_what_runs_is_kept(tmp_path: Path) -> None:
    told = Told(now=100.0)
    async with projection_in(tmp_path, told) as projection:
        await projection.absorb(update([run(1.0), execution("runs")], facts=[*facts(2.0, 1), fact("runs", 1)]))
        await projection.absorb(update(facts=[fact("stray", 7), structs.replace(fact("young", 7), at=99.0)]))
        told.now = KEEP_SECONDS + 50.0
        await projection.absorb(Update())
        assert [record.id.name for record in await projection.select(Selection())] == ["runs"]
        assert [len(await projection.history(named(name))) for name in ("a", "runs", "stray", "young")] == [0, 1, 0, 1]


async def test_answers_to_requests_are_no_transitions_but_can_be_asked_for(tmp_path: Path) -> None:
    async with projection_in(tmp_path, Told()) as projection:
        await projection.absorb(update(facts=[fact("a", 0)]))
        assert (await projection.history(named("a")), await projection.find([named("a")])) == ([], {})
        assert await projection.history(named("a"), after=-1, limit=1) == [fact("a", 0)]
        await projection.absorb(update([execution("a")], facts=[fact("a", 1), fact("a", 2), fact("a", 0)]))
        assert await projection.history(named("a")) == [fact("a", 1), fact("a", 2)]


async def test_an_update_is_taken_in_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    told = Told()
    async with projection_in(tmp_path, told) as projection:
        await projection.absorb(update([execution("a")], one=1))
        pages = projection._writer.execute("PRAGMA page_count").fetchone()[0]
        projection._writer.execute(f"PRAGMA max_page_count = {pages}")
        many = [fact("a", number) for number in range(1, 5000)]
        with pytest.raises(LogFailed, match=r"projection\.db can't be written: .*full"):
            await projection.absorb(update([execution("b")], facts=many, one=2))
        assert projection.positions == {"one": 1}
        assert await projection.executions() == [execution("a")]
        assert told.facts == []


async def test_a_cleared_projection_begins_anew(tmp_path: Path) -> None:
    async with projection_in(tmp_path, Told()) as projection:
        await projection.absorb(update([execution("a")], [(named("a"), node("n0"))], [fact("a", 1)], one=1))
        await projection.clear()
        assert projection.positions == {}
        assert (await projection.executions(), await projection.history(named("a"))) == ([], [])
