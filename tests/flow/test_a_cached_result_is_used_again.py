"""What a task gave once is given again for equal inputs: nothing is started, and the history says so."""

from __future__ import annotations

import pytest
from msgspec import structs

from engine.adapters.memory.scripts import copies, exits
from engine.model import layout
from engine.model.cache import CachePolicy
from engine.model.graph import Interface
from engine.wire.natural import natural_map
from tests.dataplane import Literal, literal, reference, serialized
from tests.flow.caching import SECOND, THIRD, VERSION, cached_task, gives, launched, said, with_program
from tests.flow.engines import EXECUTION, World
from tests.programs import INT, STR, interface, task

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

HIT = [("QUEUED", ""), ("SUCCEEDED", "CACHE_HIT")]
POPULATED = [("QUEUED", ""), ("RUNNING", "CACHE_MISS"), ("SUCCEEDED", "CACHE_POPULATED")]


async def test_the_second_execution_starts_nothing() -> None:
    world = World(cached_task())
    first = await world.run(inputs=serialized(a=7))
    second = await world.run(inputs=serialized(a=7), execution=SECOND)

    assert await said(world) == POPULATED
    assert await said(world, execution=SECOND) == HIT
    assert launched(world.runner, EXECUTION) == [None]
    assert launched(world.runner, SECOND) == []
    assert natural_map(await world.blobs.get(second.outputs_uri)) == {"o0": 7}
    assert second.outputs_uri != first.outputs_uri
    node = (await world.nodes(SECOND))["n0"]
    assert node.outputs_uri == world.blobs.uri(f"{layout.execution_prefix(SECOND)}/n0/data/0/outputs.pb")
    assert node.cache == "CACHE_HIT"
    assert await world.problems() == []


async def test_other_inputs_are_another_result() -> None:
    world = World(cached_task())
    await world.run(inputs=serialized(a=7))
    await world.run(inputs=serialized(a=8), execution=SECOND)
    assert await said(world, execution=SECOND) == POPULATED


async def test_a_new_version_of_the_task_finds_what_the_old_one_kept() -> None:
    world = World(cached_task())
    await world.run(inputs=serialized(a=7))
    spec = task("work", version="1.17.0")
    with_program(world, cached_task(spec=structs.replace(spec, id=structs.replace(spec.id, version="v2"))))
    await world.run(inputs=serialized(a=7), execution=SECOND)
    assert await said(world, execution=SECOND) == HIT


@pytest.mark.parametrize(
    ("policy", "name", "face"),
    [
        (CachePolicy("2"), "work", interface({"a": INT}, {"o0": INT})),
        (VERSION, "other", interface({"a": INT}, {"o0": INT})),
        (VERSION, "work", interface({"a": INT}, {"o0": STR})),
        (VERSION, "work", interface({"a": STR}, {"o0": INT})),
    ],
    ids=["cache version", "name", "output type", "input type"],
)
async def test_what_makes_another_result(policy: CachePolicy, name: str, face: Interface) -> None:
    world = World(cached_task())
    await world.run(inputs=serialized(a=7))
    with_program(world, cached_task(policy, task(name, face)))
    await world.run(inputs=serialized(a=7), execution=SECOND)
    assert await said(world, execution=SECOND) == POPULATED


async def test_an_ignored_input_makes_no_difference() -> None:
    world = World(
        cached_task(
            CachePolicy("1", ignored=frozenset({"b"})), task("work", interface({"a": INT, "b": INT}, {"o0": INT}))
        )
    )
    await world.run(inputs=serialized(a=7, b=1))
    await world.run(inputs=serialized(a=7, b=2), execution=SECOND)
    await world.run(inputs=serialized(a=8, b=2), execution=THIRD)
    assert await said(world, execution=SECOND) == HIT
    assert await said(world, execution=THIRD) == POPULATED


def hashed(value: int, mark: str) -> Literal:
    made = literal(value)
    made.hash = mark
    return made


async def test_what_the_author_says_is_equal_is_equal() -> None:
    world = World(cached_task())
    await world.run(inputs=serialized(a=[hashed(1, "x"), hashed(2, "y")]))
    await world.run(inputs=serialized(a=[hashed(3, "x"), hashed(4, "y")]), execution=SECOND)
    await world.run(inputs=serialized(a=[hashed(1, "x"), hashed(2, "z")]), execution=THIRD)
    assert await said(world, execution=SECOND) == HIT
    assert await said(world, execution=THIRD) == POPULATED


async def test_an_offloaded_value_is_the_value_itself() -> None:
    world = World(cached_task())
    value = literal(["a" * 1000, "b"])
    await world.run(inputs=serialized(a=value))
    uri = world.blobs.uri("elsewhere/x_offloaded_metadata.pb")
    await world.blobs.put(uri, value.SerializeToString())
    refers = reference(uri, len(value.SerializeToString()))
    refers.hash = "of the bytes"
    await world.run(inputs=serialized(a=refers), execution=SECOND)
    assert await said(world, execution=SECOND) == HIT


async def test_a_failure_is_not_kept() -> None:
    world = World(cached_task(), exits(1))
    await world.run(inputs=serialized(a=7))
    assert await said(world) == [("QUEUED", ""), ("RUNNING", "CACHE_MISS"), ("FAILED", "CACHE_MISS")]
    world.runner.script = copies(world.blobs)
    await world.run(inputs=serialized(a=7), execution=SECOND)
    assert await said(world, execution=SECOND) == POPULATED


async def test_a_task_that_is_not_cached_says_nothing() -> None:
    world = World(cached_task(None))
    await world.run(inputs=serialized(a=7))
    assert await said(world) == [("QUEUED", ""), ("RUNNING", ""), ("SUCCEEDED", "")]
    assert [uri for uri in world.blobs.objects if "/cache/" in uri] == []


async def test_overwriting_runs_all_and_keeps_the_new_results() -> None:
    world = World(cached_task())
    await world.run(inputs=serialized(a=7))
    world.runner.script = gives(world, 8)
    await world.run(inputs=serialized(a=7), execution=SECOND, overwrite_cache=True)
    third = await world.run(inputs=serialized(a=7), execution=THIRD)
    assert await said(world, execution=SECOND) == [
        ("QUEUED", ""),
        ("RUNNING", "CACHE_SKIPPED"),
        ("SUCCEEDED", "CACHE_POPULATED"),
    ]
    assert await said(world, execution=THIRD) == HIT
    assert natural_map(await world.blobs.get(third.outputs_uri)) == {"o0": 8}
