"""Each element has a key of its own: its items and the inputs that every element gets, whatever form the lists have."""

from __future__ import annotations

import pytest
from flyteidl.core import tasks_pb2
from msgspec import structs

from engine.adapters.memory.scripts import by_node, copies, exits
from engine.model.graph import ArraySpec, TaskSpec
from engine.wire.natural import natural_map
from tests.dataplane import RecordingBlobs, literal, reference, serialized
from tests.flow.caching import (
    SECOND,
    THIRD,
    VERSION,
    cached_map,
    cached_task,
    elements_said,
    launched,
    said,
    with_program,
)
from tests.flow.engines import EXECUTION, World
from tests.programs import INT, graph, interface, list_of, mapped, node, program, promise, task

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

HIT, POPULATED = "CACHE_HIT", "CACHE_POPULATED"


async def test_only_the_changed_element_runs() -> None:
    world = World(cached_map())
    await world.run(inputs=serialized(xs=[1, 2, 3]))
    second = await world.run(inputs=serialized(xs=[1, 20, 3]), execution=SECOND)

    assert await elements_said(world) == [POPULATED] * 3
    assert await elements_said(world, SECOND) == [HIT, POPULATED, HIT]
    assert launched(world.runner, SECOND) == [1]
    assert natural_map(await world.blobs.get(second.outputs_uri)) == {"o0": [1, 20, 3]}
    elements = (await world.nodes(SECOND))["n0"].elements
    assert elements is not None
    assert elements.cached == 2
    assert await said(world, execution=SECOND) == [
        ("QUEUED", ""),
        ("RUNNING", ""),
        ("SUCCEEDING", ""),
        ("SUCCEEDED", ""),
    ]
    assert await world.problems() == []


async def test_a_hit_element_is_never_running() -> None:
    world = World(cached_map())
    await world.run(inputs=serialized(xs=[1]))
    await world.run(inputs=serialized(xs=[1]), execution=SECOND)
    phases = [fact.phase for fact in await world.facts(SECOND) if fact.index == 0]
    assert phases == ["QUEUED", "SUCCEEDED"]


async def test_order_and_company_make_no_difference() -> None:
    world = World(cached_map())
    await world.run(inputs=serialized(xs=[1, 2, 3]))
    second = await world.run(inputs=serialized(xs=[3, 9, 1, 1]), execution=SECOND)
    assert launched(world.runner, SECOND) == [1]
    assert natural_map(await world.blobs.get(second.outputs_uri)) == {"o0": [3, 9, 1, 1]}


async def test_an_offloaded_list_has_the_same_keys_and_is_not_read_as_a_whole() -> None:
    world = World(cached_map())
    world.blobs = blobs = RecordingBlobs()
    world.runner.script = copies(blobs)
    texts = [f"{k}" * 300_000 for k in range(4)]
    await world.run(inputs=serialized(xs=texts))
    value = literal([*texts[:3], "changed" * 50_000]).SerializeToString()
    uri = blobs.uri("elsewhere/x_offloaded_metadata.pb")
    await blobs.put(uri, value)
    await world.run(inputs=serialized(xs=reference(uri, len(value))), execution=SECOND)

    assert await elements_said(world, SECOND) == [HIT, HIT, HIT, POPULATED]
    assert max(blobs.reads_of(uri)) < len(value) / 2


async def test_a_list_of_offloaded_items_has_the_same_keys() -> None:
    world = World(cached_map())
    await world.run(inputs=serialized(xs=["one", "two"]))
    uri = world.blobs.uri("elsewhere/x_offloaded_metadata.pb")
    await world.blobs.put(uri, literal("one").SerializeToString())
    await world.run(inputs=serialized(xs=[reference(uri, 9), "two"]), execution=SECOND)
    assert await elements_said(world, SECOND) == [HIT, HIT]


async def test_an_input_of_all_elements_is_part_of_each_key() -> None:
    spec = task("work", interface({"a": list_of(INT), "b": INT}, {"o0": list_of(INT)}))
    bindings = [promise("a", "", "xs"), promise("b", "", "b")]
    n0 = node("n0", spec.id, bindings=bindings, array=ArraySpec(bound_inputs=frozenset({"b"})), cache=VERSION)
    face = interface({"xs": list_of(INT), "b": INT}, {"o0": list_of(INT)})
    world = World(program([graph("wf", [n0], outputs=[promise("o0", "n0")], face=face)], [spec]))
    await world.run(inputs=serialized(xs=[1, 2], b=1))
    await world.run(inputs=serialized(xs=[1, 2], b=2), execution=SECOND)
    await world.run(inputs=serialized(xs=[2, 1], b=1), execution=THIRD)
    assert await elements_said(world, SECOND) == [POPULATED, POPULATED]
    assert await elements_said(world, THIRD) == [HIT, HIT]


def loading(spec: TaskSpec) -> TaskSpec:
    """The task with a command that says which function it loads."""
    template = tasks_pb2.TaskTemplate.FromString(spec.template)
    template.container.args.extend(["--", "task-module", "flows", "task-name", "work"])
    return structs.replace(spec, template=template.SerializeToString())


async def test_how_the_map_is_run_makes_no_difference() -> None:
    first, second = (
        cached_map(VERSION, ArraySpec(parallelism=parallelism, min_success_ratio=1.0), loading(mapped(task(name))))
        for name, parallelism in (("one", 1), ("two", 2))
    )
    world = World(first)
    await world.run(inputs=serialized(xs=[1, 2]))
    with_program(world, second)
    await world.run(inputs=serialized(xs=[1, 2]), execution=SECOND)
    assert await elements_said(world, SECOND) == [HIT, HIT]


async def test_a_map_finds_what_the_task_alone_has_kept() -> None:
    world = World(cached_task(spec=loading(task("flows.work"))))
    await world.run(inputs=serialized(a=2))
    with_program(world, cached_map(spec=loading(mapped(task("map")))))
    await world.run(inputs=serialized(xs=[1, 2]), execution=SECOND)
    assert await elements_said(world, SECOND) == [POPULATED, HIT]


async def test_a_tolerated_failure_is_not_kept() -> None:
    world = World(cached_map(array=ArraySpec(min_success_ratio=0.5)))
    world.runner.script = by_node({"n0[1]": exits(1)}, copies(world.blobs))
    await world.run(inputs=serialized(xs=[1, 2]))
    world.runner.script = copies(world.blobs)
    await world.run(inputs=serialized(xs=[1, 2]), execution=SECOND)
    assert await elements_said(world) == [POPULATED, "CACHE_MISS"]
    assert await elements_said(world, SECOND) == [HIT, POPULATED]
    assert launched(world.runner, EXECUTION) == [0, 1]
