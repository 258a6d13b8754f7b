"""The power goes at each crash hook while a plan is made and executed; nobody asks again for a committed one."""

from __future__ import annotations

import pytest
from flyteidl.core.types_pb2 import LiteralType
from flyteidl.core.workflow_pb2 import ArrayNode, Node

from engine.adapters.memory.scripts import by_node, copies, plans
from engine.loop.hooks import Place, nothing
from engine.wire.natural import natural_map
from tests.dataplane import serialized
from tests.flow.engines import EXECUTION, World
from tests.flow.test_a_crash_at_any_hook_loses_nothing import PowerCut, cut_at
from tests.literal_types import INT
from tests.packages import (
    bound,
    calls,
    constant,
    given,
    items,
    node,
    output,
    plan,
    registered,
    task,
    workflow,
    workflow_id,
)
from tests.plans import futures

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

LIST = LiteralType(collection_type=INT)
WORK, DYNAMIC = task("m.t"), task("m.dyn", {}, {"o0": LIST})
INNER = workflow("m.inner", node("i0", {"a": given("n")}), gives={"o0": (INT, output("i0"))})
FLOW = workflow("m.w", node("n0", runs="m.dyn"), inputs={}, gives={"o0": (LIST, output("n0"))})
PACKAGE = registered(WORK, DYNAMIC, INNER, FLOW, plan("m.plan", INNER))


def mapped_plan() -> Node:
    """A map over the launch plan, as flytekit writes it."""
    given_list = {"n": items(output("dn0"), constant(8), constant(9))}
    array = ArrayNode(node=calls("each", given_list, plan="m.plan"), min_success_ratio=1.0)
    array.is_original_sub_node_interface.value = True
    return Node(id="dn1", inputs=bound(given_list), array_node=array)


PLAN = futures(node("dn0", {"a": constant(7)}), mapped_plan(), gives={"o0": output("dn1")}, tasks=[WORK])


async def _run_with_cut(place: Place, count: int) -> tuple[World, bool]:
    world = World.of(PACKAGE)
    world.runner.script = by_node({"n0": plans(world.blobs, PLAN)}, copies(world.blobs))
    world.hook = cut_at(place, count)
    cut = False
    try:
        await world.run(workflow_id("m.w"), inputs=serialized())
    except* PowerCut:
        cut = True
    if cut:
        planned = [node for node in (await world.nodes()).values() if node.plan] if count > 1 else []
        world.crash()
        world.hook = nothing
        assert await world.problems() == []
        before = dict(world.runner.launches)
        async with world.engine() as engine:
            await engine.submit(EXECUTION, workflow_id("m.w"), world.program.digest, serialized())
            await engine.wait(EXECUTION)
        if planned:
            again = {key: launches - before.get(key, 0) for key, launches in world.runner.launches.items()}
            assert [key for key, launches in again.items() if key.path == "n0" and launches] == []
    return world, cut


@pytest.mark.parametrize("place", ["before_commit", "after_commit", "before_launch", "after_launch"])
@pytest.mark.parametrize("count", range(1, 16))
async def test_the_work_is_finished_and_each_attempt_succeeds_once(place: Place, count: int) -> None:
    world, cut = await _run_with_cut(place, count)
    execution = (await world.log.find([EXECUTION]))[EXECUTION]
    assert await world.problems() == []

    assert execution.phase.value == "SUCCEEDED", execution.error
    assert natural_map(await world.blobs.get(execution.outputs_uri)) == {"o0": [7, 8, 9]}
    facts = await world.facts()
    assert [fact.sequence for fact in facts] == list(range(1, execution.sequence + 1))
    mine = [fact.phase for fact in facts if fact.path == "n0"]
    assert mine == ["QUEUED", "RUNNING", "DYNAMIC_RUNNING", "SUCCEEDED"]
    for index in range(3):
        ends = [fact.phase for fact in facts if fact.path == "n0/0/dn1" and fact.index == index]
        assert ends.count("SUCCEEDED") == 1
    children = [record for record in await world.log.executions() if record.parent is not None]
    assert sorted(record.parent.index or 0 for record in children if record.parent) == [0, 1, 2]
    assert max(world.runner.launches.values()) <= (2 if cut else 1)
