"""Once an engine is entered, `unfinished` knows every accepted execution, and watchers have been told of all."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.loop.watchers import Watchers
from engine.model.errors import BlobNotFound
from engine.model.events import AbortRequested, ExecutionSubmitted
from engine.model.graph import Program
from engine.model.ids import ExecutionId
from engine.model.phases import ExecutionPhase
from engine.model.state import Execution, Fact
from engine.ports.eventlog import Changes
from tests.flow.engines import EXECUTION, World
from tests.programs import chain

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

OTHER = ExecutionId("p", "d", "e2")


def submitted(world: World, execution: ExecutionId) -> ExecutionSubmitted:
    return ExecutionSubmitted(execution, world.first, world.program.digest)


async def test_a_submission_that_no_turn_has_seen_is_unfinished() -> None:
    world = World(chain(1))
    await world.log.append([submitted(world, EXECUTION), submitted(world, OTHER)], durable=True)
    world.crash()
    async with world.engine() as engine:
        assert list(engine.unfinished()) == [EXECUTION, OTHER]
        assert (await engine.wait(OTHER)).phase.value == "SUCCEEDED"


async def test_watchers_from_outside_are_told_of_what_ends_before_the_engine_is_ready() -> None:
    world = World(chain(1))
    await world.log.append([submitted(world, EXECUTION), AbortRequested(EXECUTION, "told to")], durable=True)
    world.crash()
    told: list[tuple[str, str]] = []

    def see(executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
        told.extend((record.id.name, record.phase.value) for record in executions)

    watchers = Watchers()
    with watchers.watching(see):
        async with world.engine(watchers) as engine:
            ended = await engine.wait(EXECUTION)
    assert told[0][0] == EXECUTION.name
    assert told[-1] == (EXECUTION.name, "ABORTED")
    assert ended.phase.value == "ABORTED"


async def test_a_watcher_finds_the_last_state_of_the_nodes_it_is_told_of() -> None:
    world = World(chain(1))
    seen: list[str] = []
    watchers = Watchers()
    async with world.engine(watchers) as engine:

        def see(executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
            state = engine.residents.get(EXECUTION)
            assert state is not None
            seen.extend(state.nodes[fact.path].phase.name for fact in facts if fact.path == "n0")

        with watchers.watching(see):
            await engine.submit(EXECUTION, world.first, world.program.digest, b"")
            await engine.wait(EXECUTION)
    assert seen[-1] == "SUCCEEDED"


async def test_an_execution_whose_package_is_gone_does_not_hold_up_the_others(caplog: pytest.LogCaptureFixture) -> None:
    world = Forgetful(chain(1))
    gone = Execution(OTHER, world.first, world.first, "gone", ExecutionPhase.RUNNING)
    await world.log.commit((), Changes(executions=[gone]))
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, world.program.digest, b"")
        assert (await engine.wait(EXECUTION)).phase is ExecutionPhase.SUCCEEDED
        assert engine.unfinished() == []
    assert (await world.log.find([OTHER]))[OTHER] == gone, "left as it was"
    assert "execution can't be taken up" in caplog.messages


class Forgetful(World):
    async def _load(self, digest: str) -> Program:
        if digest == "gone":
            raise BlobNotFound("file:///store/metadata/packages/gone.pkg")
        return await super()._load(digest)
