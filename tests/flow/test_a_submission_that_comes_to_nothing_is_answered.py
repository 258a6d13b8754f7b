"""What an engine writes for itself may be written by others too: it starts nothing that can't be, and says why."""

from __future__ import annotations

import pytest

from engine.model.events import ExecutionSubmitted
from engine.model.ids import EntityId, EntityKind, ExecutionId
from engine.wire.codec import pack_event
from tests.flow.asking import answer, asked, named, publish, request
from tests.flow.engines import World

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]
NOWHERE = EntityId(EntityKind.WORKFLOW, "p", "d", "m.nowhere", "v1")


def submitted(world: World, name: str = "e1", entity: EntityId | None = None, package: str = "") -> ExecutionSubmitted:
    found = entity or next(iter(world.program.launch_plans))
    return ExecutionSubmitted(ExecutionId("p", "d", name), found, package or world.program.digest)


@pytest.mark.parametrize(
    ("name", "entity", "package", "words"),
    [
        ("e1", None, "0" * 64, "its package can't be read"),
        ("e1", NOWHERE, "", "workflow m.nowhere is not in the package"),
        ("E 1", None, "", "the execution's name 'E 1' is no DNS label"),
    ],
)
async def test_it_is_rejected_and_kept_for_the_operator(
    name: str, entity: EntityId | None, package: str, words: str
) -> None:
    async with asked() as (world, _):
        world.log.publish(pack_event(submitted(world, name, entity, package)))
        rejected = await answer(world)
        assert (rejected.execution.name, rejected.sequence, rejected.phase) == (name, 0, "REJECTED")
        assert rejected.error is not None
        assert words in rejected.error.message
        assert await world.log.executions() == []
        (letter,) = await world.log.dead_letters()
        assert words in letter.reason


async def test_a_name_that_a_request_has_taken_is_taken() -> None:
    async with asked() as (world, engine):
        publish(world, request())
        world.log.publish(pack_event(submitted(world)))
        rejected = await answer(world)
        assert rejected.error is not None
        assert "p:d:e1 exists already (RUNNING), with other content" in rejected.error.message
        assert (await engine.wait(named("e1"))).phase.value == "SUCCEEDED"
