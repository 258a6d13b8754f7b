"""Each element of a map over a launch plan is a child execution of its own; the list of their outputs is in order."""

from __future__ import annotations

import pytest

from engine.adapters.memory.runner import Script
from engine.adapters.memory.scripts import copies, hangs, inputs_uri, raises
from engine.machine.children import child_id
from engine.model.graph import ArraySpec, Program
from engine.model.limits import OffloadLimits
from engine.model.state import Execution
from engine.ports.taskrunner import Exit, TaskRequest
from tests.dataplane import serialized, values_of
from tests.flow.engines import EXECUTION, World
from tests.flow.test_a_workflow_runs_to_its_end import ints, outputs, until
from tests.programs import INT, constant, graph, interface, list_of, mapped, node, plan, program, promise, task

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

WORK = task("work")
LISTS = interface({"xs": list_of(INT)}, {"o0": list_of(INT)})
ITEM = graph(
    "item",
    [node("i0", WORK.id, bindings=[promise("a", "start-node", "a")])],
    outputs=[promise("o0", "i0")],
    face=interface({"a": INT, "b": INT}, {"o0": INT}),
)
PLAN = plan("each", ITEM, fixed=serialized(b=9))


def over_plan(retries: int = 0, **array: object) -> Program:
    spec = ArraySpec(original_interface=True, **array)  # type: ignore[arg-type]
    maps = node("n0", PLAN.id, bindings=[promise("a", "start-node", "xs")], array=spec, retries=retries)
    return program([graph("wf", [maps], outputs=[promise("o0", "n0")], face=LISTS), ITEM], [WORK], [PLAN])


def failing(world: World, value: int, otherwise: Script | None = None) -> Script:
    """The task that is given this value raises; the others do as said."""

    async def play(request: TaskRequest) -> Exit:
        given = values_of(await world.blobs.get(inputs_uri(request)))["a"]
        script = raises(world.blobs, "boom") if given == value else otherwise or copies(world.blobs)
        played = script(request)
        return played if isinstance(played, Exit) else await played

    return play


async def children(world: World) -> dict[int, Execution]:
    records = await world.log.executions()
    return {record.parent.index or 0: record for record in records if record.parent is not None}


async def run(world: World, xs: list[int]) -> Execution:
    ended = await world.run(inputs=ints(xs=xs))
    assert await world.problems() == []
    return ended


async def test_each_element_is_a_child_with_a_name_of_its_own() -> None:
    world = World(over_plan())
    ended = await run(world, [4, 5, 6])
    assert await outputs(world, ended) == {"o0": [4, 5, 6]}
    found = await children(world)
    key = {index: ended.element_key("n0", 0, index, 0) for index in range(3)}
    assert {index: record.id for index, record in found.items()} == {index: child_id(key[index]) for index in range(3)}
    assert {record.phase.value for record in found.values()} == {"SUCCEEDED"}
    assert await world.element_phases("n0") == ["SUCCEEDED"] * 3
    facts = [(fact.index, fact.phase) for fact in await world.facts() if fact.index is not None]
    assert sorted(facts) == sorted((index, phase) for index in range(3) for phase in ("QUEUED", "RUNNING", "SUCCEEDED"))


async def test_an_empty_list_starts_nothing() -> None:
    world = World(over_plan())
    ended = await run(world, [])
    assert await outputs(world, ended) == {"o0": []}
    assert await children(world) == {}


async def test_tolerated_failures_leave_none_in_their_places() -> None:
    world = World(over_plan(min_success_ratio=0.5))
    world.runner.script = failing(world, 5)
    ended = await run(world, [4, 5, 6])
    assert ended.error is None
    assert await outputs(world, ended) == {"o0": [4, None, 6]}
    assert await world.element_phases("n0") == ["SUCCEEDED", "FAILED", "SUCCEEDED"]


async def test_a_failing_child_ends_the_map_and_its_siblings() -> None:
    world = World(over_plan())
    world.runner.script = failing(world, 5, hangs)
    ended = await run(world, [4, 5, 6])
    assert ended.error is not None
    assert (ended.error.code, ended.error.node) == ("USER:RuntimeError", "n0")
    assert f"First error, at n0[1]: child execution {(await children(world))[1].id.name} failed" in ended.error.message
    phases = {index: record.phase.value for index, record in (await children(world)).items()}
    assert phases == {0: "ABORTED", 1: "FAILED", 2: "ABORTED"}
    assert await world.element_phases("n0") == ["ABORTED", "FAILED", "ABORTED"]
    cause = (await children(world))[0].abort_cause
    assert cause is not None
    assert cause.startswith("cascading abort from parent execution p:d:e1, node n0[0]:")


async def test_an_abort_reaches_every_child() -> None:
    world = World(over_plan())
    world.runner.script = hangs
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, world.program.digest, ints(xs=[1, 2]))
        await until(engine, EXECUTION, "n0", "RUNNING")
        await engine.abort(EXECUTION, "enough")
        ended = await engine.wait(EXECUTION)
    assert ended.phase.value == "ABORTED"
    assert {record.phase.value for record in (await children(world)).values()} == {"ABORTED"}
    assert await world.problems() == []


async def test_only_as_many_children_live_as_the_author_said() -> None:
    world = World(over_plan(parallelism=2))
    ended = await run(world, list(range(7)))
    assert await outputs(world, ended) == {"o0": list(range(7))}
    assert world.runner.most_alive == 2


async def test_a_child_without_outputs_ends_its_element() -> None:
    silent = graph("item", [node("i0", WORK.id, bindings=[constant("a", 1)])], face=interface({"a": INT}, {}))
    each = plan("each", silent)
    maps = node("n0", each.id, bindings=[promise("a", "start-node", "xs")], array=ArraySpec(original_interface=True))
    face = interface({"xs": list_of(INT)}, {})
    world = World(program([graph("wf", [maps], face=face), silent], [WORK], [each]))
    ended = await run(world, [1, 2])
    assert ended.phase.value == "SUCCEEDED", ended.error


async def test_bound_inputs_go_to_every_child_whole() -> None:
    face = interface({"a": INT, "xs": list_of(INT)}, {"o0": list_of(INT)})
    echo = task("echo", interface({"xs": list_of(INT)}, {"o0": list_of(INT)}))
    item = graph(
        "item",
        [node("i0", echo.id, bindings=[promise("xs", "start-node", "xs")])],
        outputs=[promise("o0", "i0")],
        face=face,
    )
    each = plan("each", item)
    spec = ArraySpec(original_interface=True, bound_inputs=frozenset({"xs"}))
    bindings = [promise("a", "start-node", "xs"), promise("xs", "start-node", "xs")]
    whole = interface({"xs": list_of(INT)}, {"o0": list_of(list_of(INT))})
    maps = node("n0", each.id, bindings=bindings, array=spec)
    world = World(program([graph("wf", [maps], outputs=[promise("o0", "n0")], face=whole), item], [echo], [each]))
    assert await outputs(world, await run(world, [7, 8])) == {"o0": [[7, 8], [7, 8]]}


async def test_maps_nest_by_way_of_a_launch_plan() -> None:
    many = mapped(WORK)
    row = graph(
        "row",
        [node("r0", many.id, bindings=[promise("a", "start-node", "xs")], array=ArraySpec())],
        outputs=[promise("o0", "r0")],
        face=LISTS,
    )
    each = plan("rows", row)
    rows = interface({"xs": list_of(list_of(INT))}, {"o0": list_of(list_of(INT))})
    maps = node("n0", each.id, bindings=[promise("xs", "start-node", "xs")], array=ArraySpec(original_interface=True))
    flow = graph("wf", [maps], outputs=[promise("o0", "n0")], face=rows)
    world = World(program([flow, row], [WORK, many], [each]), offload=OffloadLimits(min_size=0))
    ended = await world.run(inputs=serialized(xs=[[1, 2], [], [3]]))
    assert ended.phase.value == "SUCCEEDED", ended.error
    assert await world.problems() == []
    assert values_of(world.blobs.objects[ended.outputs_uri], world.blobs) == {"o0": [[1, 2], [], [3]]}
