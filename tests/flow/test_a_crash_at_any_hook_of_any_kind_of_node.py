"""The power goes at each crash hook in turn, in an execution that holds every kind of frame and of second attempt."""

from __future__ import annotations

from collections.abc import Awaitable

import pytest

from engine.adapters.memory.scripts import by_attempt, by_node, copies, ends, raises
from engine.loop.hooks import Place, nothing
from engine.model.graph import Program
from engine.ports.taskrunner import Exit, ExitReason, TaskRequest
from tests.flow.engines import EXECUTION, World
from tests.flow.scenarios import WORK, lone
from tests.flow.test_a_crash_at_any_hook_loses_nothing import PowerCut, cut_at
from tests.flow.test_conditions_mean_what_authors_mean import compares
from tests.programs import branch, graph, node, plan, program, promise

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(30)]

CHOICE = [compares("GT", "n0.o0", 5).SerializeToString(), b""]
"""The second arm is taken: the tasks copy a 1."""


def mixture() -> Program:
    """a -> a conditional whose arm is a sub-workflow -> a launch plan -> a node that fails; then the clean-up.

    The sub-workflow fails at first and is tried again as a whole; so does the child execution; `a` is lost twice.
    """
    inner = graph("inner", [lone("n0"), lone("n1", "n0")], failure=lone("fn0"))
    child = graph("child", [lone("n7")])
    each = plan("plan", child)
    arms = dict(zip(("n0", "n1"), CHOICE, strict=True))
    bodies = [lone("n0"), node("n1", inner.id, retries=1, after=["a"])]
    nodes = [
        lone("a"),
        branch("c", arms, bodies, bindings=[promise("n0.o0", "a")]),
        node("lp", each.id, retries=1, after=["c"]),
        lone("bad", "lp"),
        lone("never", "bad"),
    ]
    cleanup = graph("cleanup", [lone("n0"), lone("n1", "n0")])
    main = graph("wf", nodes, failure=node("fn9", cleanup.id))
    return program([main, inner, child, cleanup], [WORK], [each])


ENDED = {
    "a": "SUCCEEDED",
    "bad": "FAILED",
    "c": "SUCCEEDED",
    "c/0/n0": "SKIPPED",
    "c/0/n1": "SUCCEEDED",
    "c/0/n1/0/fn0": "SUCCEEDED",
    "c/0/n1/0/n0": "SUCCEEDED",
    "c/0/n1/0/n1": "FAILED",
    "c/0/n1/1/n0": "SUCCEEDED",
    "c/0/n1/1/n1": "SUCCEEDED",
    "fn9": "SUCCEEDED",
    "fn9/0/n0": "SUCCEEDED",
    "fn9/0/n1": "SUCCEEDED",
    "lp": "SUCCEEDED",
}


def scripted(world: World) -> World:
    lost, failed = ends(Exit(ExitReason.LOST)), raises(world.blobs, "no")
    # Of the children only the one of the first attempt fails: its run is the parent's second one.
    children: list[str] = []

    def child(request: TaskRequest) -> Exit | Awaitable[Exit]:
        name = request.key.execution.name
        children.extend([name] if name not in children else [])
        return (failed if children.index(name) == 0 else copies(world.blobs))(request)

    scripts = {
        "a": by_attempt(lost, lost, copies(world.blobs)),
        "c/0/n1/0/n1": failed,
        "n7": child,
        "bad": raises(world.blobs, "bad luck"),
    }
    world.runner.script = by_node(scripts, copies(world.blobs))
    return world


async def run(place: Place | None, count: int = 0) -> tuple[World, bool]:
    world, cut = scripted(World(mixture())), False
    world.hook = cut_at(place, count) if place else nothing
    try:
        await world.run()
    except* PowerCut:
        cut = True
    if cut:
        world.crash()
        world.hook = nothing
        assert await world.problems() == []
        async with world.engine() as engine:
            await engine.submit(EXECUTION, world.first, world.program.digest, b"")
            await engine.wait(EXECUTION)
    return world, cut


async def check(world: World, cut: bool) -> None:
    record = (await world.log.find([EXECUTION]))[EXECUTION]
    assert await world.problems() == []
    assert await world.phases() == ENDED
    assert record.phase.value == "FAILED"
    assert record.error is not None
    assert (record.error.message, record.error.node) == ("bad luck", "bad")
    nodes = await world.nodes()
    assert (nodes["a"].attempt, nodes["c/0/n1"].attempt, nodes["lp"].attempt) == (2, 1, 1)
    assert nodes["c"].choice == "n1"
    facts = await world.facts()
    assert [fact.sequence for fact in facts] == list(range(1, record.sequence + 1))
    for path in nodes:
        ends = [fact for fact in facts if fact.path == path and fact.phase in ("SUCCEEDED", "FAILED", "SKIPPED")]
        assert len(ends) == 1, path
    assert [fact.phase for fact in facts if not fact.path] == ["RUNNING", "FAILING", "HANDLING_FAILURE_NODE", "FAILED"]
    assert max(world.runner.launches.values()) <= (2 if cut else 1)
    assert all(child.terminal for child in await world.log.executions())


async def test_without_a_crash() -> None:
    await check(*await run(None))


@pytest.mark.parametrize("place", ["before_commit", "after_commit", "before_launch", "after_launch"])
@pytest.mark.parametrize("count", range(1, 21))
async def test_the_same_end_whenever_the_power_goes(place: Place, count: int) -> None:
    await check(*await run(place, count))


async def test_the_hooks_are_reached_until_the_end() -> None:
    """Else the counts above would leave a part of the execution out."""
    assert (await run("after_launch", 20))[1]
    assert not (await run("after_launch", 30))[1]
