"""User case S29: slots go round by execution, inside one by node; none is lost on odd paths."""

from __future__ import annotations

import random

import anyio
import pytest

from engine.adapters.memory.runner import NoopRunner
from engine.adapters.memory.scripts import copies, takes
from engine.adapters.slots import Slots
from engine.model.graph import ArraySpec, Program
from engine.model.ids import AttemptKey, ExecutionId
from tests.flow.engines import EXECUTION, World
from tests.flow.test_a_workflow_runs_to_its_end import ints
from tests.programs import (
    INT,
    constant,
    graph,
    interface,
    list_of,
    mapped,
    node,
    plan,
    program,
    promise,
    task,
    workflow_id,
)

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(60)]

SMALL = ExecutionId("p", "d", "small")
WIDE_SECONDS = 100.0


def _wide_and_small() -> Program:
    work, quick = task("work"), task("quick")
    many = mapped(work)
    wide = graph(
        "wide",
        [
            node("n0", many.id, array=ArraySpec(), bindings=[promise("a", "", "xs")]),
            node("n1", quick.id, bindings=[constant("a", 1)]),
            node("n2", quick.id, after=["n1"], bindings=[promise("a", "n1")]),
        ],
        face=interface({"xs": list_of(INT)}),
    )
    chain = [node(f"n{k}", quick.id, after=[f"n{k - 1}"] if k else [], bindings=[constant("a", 1)]) for k in range(3)]
    return program([wide, graph("small", chain)], [work, quick, many])


def _world(slots: int) -> World:
    """Elements take WIDE_SECONDS, other tasks a second."""
    world = World(_wide_and_small())
    brief, long = takes(1.0, copies(world.blobs)), takes(WIDE_SECONDS, copies(world.blobs))
    world.runner = NoopRunner(
        lambda request: (brief if request.key.index is None else long)(request), max_concurrent=slots
    )
    return world


async def test_a_small_execution_waits_for_one_slot_a_task_however_wide_the_other_is() -> None:
    world = _world(25)
    async with world.engine() as engine:
        await engine.submit(EXECUTION, workflow_id("wide"), "digest", ints(xs=list(range(1000))))
        await anyio.sleep(WIDE_SECONDS / 2)
        await engine.submit(SMALL, workflow_id("small"), "digest", b"")
        small = await engine.wait(SMALL)
        nodes = await world.nodes(EXECUTION)

    assert small.phase.value == "SUCCEEDED"
    # The slots come free together, every WIDE_SECONDS; each of the three tasks needs one of them.
    assert small.ended_at - small.started_at <= 3 * WIDE_SECONDS
    elements = nodes["n0"].elements
    assert elements is not None
    assert elements.succeeded < 100
    # The single tasks beside the map, in the same execution, had their turns likewise.
    assert nodes["n2"].phase.name == "SUCCEEDED"


async def test_the_next_task_starts_at_once_where_its_predecessor_left_its_slot() -> None:
    world = _world(25)
    async with world.engine() as engine:
        await engine.submit(EXECUTION, workflow_id("wide"), "digest", ints(xs=list(range(30))))
        await engine.wait(EXECUTION)
    nodes = await world.nodes(EXECUTION)
    assert nodes["n2"].started_at - nodes["n1"].ended_at <= WIDE_SECONDS


async def test_no_slot_is_lost_or_given_twice_whoever_is_cancelled() -> None:
    slots, chance = Slots(3), random.Random(7)
    held = most = 0

    async def hold(number: int, scope: anyio.CancelScope) -> None:
        nonlocal held, most
        key = AttemptKey(ExecutionId("p", "d", f"e{number % 5}"), f"n{number % 3}", number)
        with scope:
            async with slots.one(key):
                held += 1
                most = max(most, held)
                try:
                    await anyio.sleep(chance.random())
                finally:
                    held -= 1

    scopes = [anyio.CancelScope() for _ in range(300)]
    async with anyio.create_task_group() as group:
        for number, scope in enumerate(scopes):
            group.start_soon(hold, number, scope)
        while chance.random() < 0.99:
            await anyio.sleep(chance.random() / 10)
            chance.choice(scopes).cancel()

    assert (held, most, slots.free) == (0, 3, 3)
    assert not slots._waiting


async def test_turns_go_round_by_execution_then_by_node() -> None:
    slots, served = Slots(1), list[str]()

    async def hold(execution: str, path: str) -> None:
        async with slots.one(AttemptKey(ExecutionId("p", "d", execution), path)):
            served.append(f"{execution}.{path}")
            await anyio.sleep(1)

    async with anyio.create_task_group() as group:
        for execution, path in [("a", "n0")] * 4 + [("a", "n1"), ("b", "n0"), ("b", "n0"), ("c", "n0")]:
            group.start_soon(hold, execution, path)

    assert served == ["a.n0", "a.n0", "b.n0", "c.n0", "a.n1", "b.n0", "a.n0", "a.n0"]


async def test_a_map_over_a_launch_plan_takes_the_turns_of_one_node() -> None:
    """Each of its 200 child executions would be an execution of its own."""
    work, quick = task("work"), task("quick")
    child = graph("child", [node("n0", work.id, bindings=[constant("a", 1)])], face=interface({"a": INT}))
    child_plan = plan("child_plan", child)
    wide = graph(
        "wide",
        [
            node("n0", child_plan.id, array=ArraySpec(original_interface=True), bindings=[promise("a", "", "xs")]),
            node("n1", quick.id, bindings=[constant("a", 1)]),
            node("n2", quick.id, after=["n1"], bindings=[promise("a", "n1")]),
        ],
        face=interface({"xs": list_of(INT)}),
    )
    chain = [node(f"n{k}", quick.id, after=[f"n{k - 1}"] if k else [], bindings=[constant("a", 1)]) for k in range(3)]
    world = World(program([wide, graph("small", chain), child], [work, quick], [child_plan]))
    brief, long = takes(1.0, copies(world.blobs)), takes(WIDE_SECONDS, copies(world.blobs))
    world.runner = NoopRunner(
        lambda request: (brief if request.task.id.name == "quick" else long)(request), max_concurrent=5
    )
    async with world.engine() as engine:
        await engine.submit(EXECUTION, workflow_id("wide"), "digest", ints(xs=list(range(200))))
        await anyio.sleep(WIDE_SECONDS / 2)
        await engine.submit(SMALL, workflow_id("small"), "digest", b"")
        small = await engine.wait(SMALL)
        nodes = await world.nodes(EXECUTION)

    assert small.ended_at - small.started_at <= 3 * WIDE_SECONDS
    assert nodes["n2"].phase.name == "SUCCEEDED"
    assert nodes["n0"].elements is not None
    assert nodes["n0"].elements.succeeded < 30
