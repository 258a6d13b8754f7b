"""Whole executions: values travel from node to node, through sub-workflows, maps and child executions."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest
from flyteidl.core import literals_pb2

from engine.adapters.memory.scripts import by_attempt, by_node, copies, exits, hangs, raises
from engine.app import Engine
from engine.loop.outbox import PATIENCE_SECONDS
from engine.model.graph import ArraySpec, Program
from engine.model.ids import ExecutionId
from engine.model.limits import OffloadLimits
from engine.model.state import Execution, Fact
from engine.wire.natural import natural_map
from tests.flow.engines import EXECUTION, World
from tests.programs import INT, chain, constant, graph, interface, list_of, mapped, node, plan, program, promise, task

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


def ints(**values: int | list[int]) -> bytes:
    """A serialized LiteralMap of whole numbers and lists of them."""

    def literal(value: int | list[int]) -> literals_pb2.Literal:
        if isinstance(value, list):
            items = [literal(item) for item in value]
            return literals_pb2.Literal(collection=literals_pb2.LiteralCollection(literals=items))
        primitive = literals_pb2.Primitive(integer=value)
        return literals_pb2.Literal(scalar=literals_pb2.Scalar(primitive=primitive))

    return literals_pb2.LiteralMap(
        literals={name: literal(value) for name, value in values.items()}
    ).SerializeToString()


async def outputs(world: World, execution: Execution) -> dict[str, object]:
    return dict(natural_map(await world.blobs.get(execution.outputs_uri)))


async def until(engine: Engine, execution: ExecutionId, path: str, phase: str) -> None:
    """Wait for a fact of the history."""
    seen = anyio.Event()

    def see(_: Sequence[Execution], facts: Sequence[Fact]) -> None:
        if any((fact.execution, fact.path, fact.phase) == (execution, path, phase) for fact in facts):
            seen.set()

    with engine.watchers.watching(see):
        await seen.wait()


def nested() -> Program:
    """in xs -> sub-workflow that maps a task over xs -> launch plan that copies the list -> out."""
    work, echo = task("work"), task("echo", interface({"a": list_of(INT)}, {"o0": list_of(INT)}))
    many = mapped(work)
    lists = interface({"xs": list_of(INT)}, {"o0": list_of(INT)})
    inner = graph(
        "inner",
        [node("n0", many.id, array=ArraySpec(), retries=2, bindings=[promise("a", "", "xs")])],
        outputs=[promise("o0", "n0")],
        face=lists,
    )
    child = graph(
        "child", [node("n0", echo.id, bindings=[promise("a", "", "xs")])], outputs=[promise("o0", "n0")], face=lists
    )
    child_plan = plan("child_plan", child)
    outer = graph(
        "outer",
        [
            node("n0", inner.id, bindings=[promise("xs", "", "xs")]),
            node("n1", child_plan.id, after=["n0"], bindings=[promise("xs", "n0")]),
        ],
        outputs=[promise("o0", "n1")],
        face=lists,
    )
    return program([outer, inner, child], [work, echo, many], [child_plan])


async def test_a_chain_passes_its_value_on() -> None:
    world = World(chain(5))
    execution = await world.run()

    assert execution.phase.value == "SUCCEEDED"
    assert await outputs(world, execution) == {"o0": 1}
    assert set((await world.phases()).values()) == {"SUCCEEDED"}
    assert [fact.sequence for fact in await world.facts()] == list(range(1, execution.sequence + 1))


@pytest.mark.parametrize("limits", [OffloadLimits(), OffloadLimits(min_size=0), OffloadLimits(enabled=False)])
async def test_a_map_in_a_sub_workflow_feeds_a_launch_plan(limits: OffloadLimits) -> None:
    world = World(nested(), offload=limits)
    execution = await world.run(inputs=ints(xs=[3, 1, 2]))

    assert execution.phase.value == "SUCCEEDED", execution.error
    child = (await world.child("n1")).id
    assert await world.phases() == {"n0": "SUCCEEDED", "n0/0/n0": "SUCCEEDED", "n1": "SUCCEEDED"}
    assert await world.phases(child) == {"n0": "SUCCEEDED"}
    (value,) = (await outputs(world, execution)).values()
    if limits.enabled and limits.min_size == 0:
        assert isinstance(value, dict)
        stored = await world.blobs.get(value["offloaded"]["uri"])
        assert len(stored) == value["offloaded"]["size_bytes"]
    else:
        assert value == [3, 1, 2]


async def test_an_empty_list_maps_to_an_empty_list() -> None:
    world = World(nested())
    execution = await world.run(inputs=ints(xs=[]))

    assert await outputs(world, execution) == {"o0": []}
    assert await world.element_phases("n0/0/n0") == []


async def test_tolerated_failures_leave_none_in_their_places() -> None:
    many = mapped(task("work"))
    array = ArraySpec(min_success_ratio=0.5)
    wf = graph(
        "wf",
        [node("n0", many.id, array=array, bindings=[promise("a", "", "xs")])],
        outputs=[promise("o0", "n0")],
        face=interface({"xs": list_of(INT)}, {"o0": list_of(INT)}),
    )
    world = World(program([wf], [many]))
    failing = {f"n0[{k}]": raises(world.blobs, f"boom {k}") for k in (1, 4)}
    world.runner.script = by_node(failing, copies(world.blobs))
    execution = await world.run(inputs=ints(xs=[10, 11, 12, 13, 14]))

    assert await outputs(world, execution) == {"o0": [10, None, 12, 13, None]}


async def test_a_task_that_exits_without_outputs_fails_after_its_system_budget() -> None:
    world = World(chain(2))
    world.runner.script = by_node({"n0": exits(0)}, copies(world.blobs))
    execution = await world.run()

    assert execution.phase.value == "FAILED"
    assert execution.error is not None
    assert (execution.error.code, execution.error.kind.value, execution.error.node) == (
        "RetriesExhausted|OutputsNotFound",
        "SYSTEM",
        "n0",
    )
    assert sum(world.runner.launches.values()) == 4
    assert await world.phases() == {"n0": "FAILED"}


async def test_a_recoverable_error_is_retried_into_a_fresh_folder() -> None:
    world = World(chain(1, retries=2))
    world.runner.script = by_attempt(raises(world.blobs, "again", recoverable=True), copies(world.blobs))
    execution = await world.run()

    assert execution.phase.value == "SUCCEEDED"
    node_state = (await world.nodes())["n0"]
    assert node_state.attempt == 1
    assert node_state.outputs_uri.endswith("/n0/data/1/outputs.pb")


async def test_an_abort_ends_what_runs_and_the_child_too() -> None:
    world = World(nested(), hangs)
    world.runner.script = by_node({"n0": hangs}, copies(world.blobs))
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, world.program.digest, ints(xs=[1]))
        await until(engine, EXECUTION, "n1", "RUNNING")
        child = (await world.child("n1")).id
        await until(engine, child, "n0", "RUNNING")
        await engine.abort(EXECUTION, "enough")
        execution = await engine.wait(EXECUTION)

    assert (execution.phase.value, execution.abort_cause) == ("ABORTED", "enough")
    found = await world.log.find([child])
    assert found[child].phase.value == "ABORTED"
    assert await world.phases() == {"n0": "SUCCEEDED", "n0/0/n0": "SUCCEEDED", "n1": "ABORTED"}


async def test_a_timeout_counts_from_the_start_of_the_attempt() -> None:
    work = task("work")
    wf = graph("wf", [node("n0", work.id, timeout=3600.0, retries=1, bindings=[constant("a", 1)])])
    world = World(program([wf], [work]), hangs)
    execution = await world.run()

    assert execution.error is not None
    assert execution.error.code == "RetriesExhausted|TimeoutExpired"
    assert sum(world.runner.launches.values()) == 2
    state = (await world.nodes())["n0"]
    assert state.ended_at - state.started_at == pytest.approx(7200.0, abs=2 * PATIENCE_SECONDS)
