"""Whatever is wrong with the cache or with what it holds, the task runs and its result counts."""

from __future__ import annotations

import logging

import pytest

from engine.adapters.memory.scripts import SUCCESS, gives
from engine.adapters.storecache import StoreCache
from engine.model import layout
from engine.model.cache import CacheKey
from engine.model.errors import StoreFailed, Transient
from engine.model.ids import ExecutionId
from engine.ports.cache import CacheEntry
from engine.ports.taskrunner import Exit, TaskRequest
from tests.dataplane import literal, parsed, plain, reference, serialized
from tests.flow.caching import SECOND, THIRD, cached_task, said
from tests.flow.engines import EXECUTION, World

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

POPULATED = [("QUEUED", ""), ("RUNNING", "CACHE_MISS"), ("SUCCEEDED", "CACHE_POPULATED")]


class Down(StoreCache):
    """A cache that can be asked or written only as long as nobody says otherwise."""

    finding = keeping = True

    async def find(self, key: CacheKey) -> CacheEntry | None:
        if not self.finding:
            raise Transient("the cache is down")
        return await super().find(key)

    async def keep(self, key: CacheKey, entry: CacheEntry) -> None:
        if not self.keeping:
            raise StoreFailed("the cache is full")
        await super().keep(key, entry)


async def test_a_cache_that_can_t_be_asked(caplog: pytest.LogCaptureFixture) -> None:
    world = World(cached_task())
    world.cache = down = Down(world.blobs)
    down.finding = False
    with caplog.at_level(logging.WARNING):
        execution = await world.run(inputs=serialized(a=7))
    assert execution.phase.value == "SUCCEEDED"
    assert await said(world) == [
        ("QUEUED", ""),
        ("RUNNING", "CACHE_LOOKUP_FAILURE"),
        ("SUCCEEDED", "CACHE_POPULATED"),
    ]
    assert "the cache can't be asked; the attempt runs" in caplog.text


async def test_a_cache_that_takes_nothing() -> None:
    world = World(cached_task())
    world.cache = down = Down(world.blobs)
    down.keeping = False
    execution = await world.run(inputs=serialized(a=7))
    assert execution.phase.value == "SUCCEEDED"
    assert await said(world) == [("QUEUED", ""), ("RUNNING", "CACHE_MISS"), ("SUCCEEDED", "CACHE_PUT_FAILURE")]


async def test_an_input_that_leads_nowhere_has_no_key() -> None:
    world = World(cached_task())
    await world.run(inputs=serialized(a=reference("memory://store/gone")))
    assert (await said(world))[1] == ("RUNNING", "CACHE_LOOKUP_FAILURE")


def entries(world: World) -> list[str]:
    return [uri for uri in world.blobs.objects if uri.endswith("/entry")]


@pytest.mark.parametrize(
    "damage", [b"", b"nonsense", b"\x82\xa6format\x63\xa5entry\xc0"], ids=["empty", "no entry", "newer"]
)
async def test_an_entry_that_can_t_be_read_is_none(damage: bytes) -> None:
    world = World(cached_task())
    await world.run(inputs=serialized(a=7))
    (uri,) = entries(world)
    world.blobs.objects[uri] = damage
    await world.run(inputs=serialized(a=7), execution=SECOND)
    await world.run(inputs=serialized(a=7), execution=THIRD)
    assert await said(world, execution=SECOND) == POPULATED
    assert (await said(world, execution=THIRD))[-1] == ("SUCCEEDED", "CACHE_HIT")


async def test_an_entry_without_a_declared_output_is_none() -> None:
    world = World(cached_task())
    world.cache = cache = StoreCache(world.blobs)
    await world.run(inputs=serialized(a=7))
    (uri,) = entries(world)
    key = CacheKey("p", "d", "work", uri.split("/")[-2])
    found = await cache.find(key)
    assert found is not None
    await cache.keep(key, CacheEntry(serialized(other=1), found.source, 0.0))
    await world.run(inputs=serialized(a=7), execution=SECOND)
    assert await said(world, execution=SECOND) == POPULATED


def offloads(world: World, text: str) -> None:
    """From now on attempts give a large value, as the SDK writes it: beside the outputs, in their folder."""
    value = literal(text).SerializeToString()

    async def play(request: TaskRequest) -> Exit:
        uri = f"{request.prefix_uri}/o0_offloaded_metadata.pb"
        await world.blobs.put(uri, value)
        await world.blobs.put(f"{request.prefix_uri}/outputs.pb", serialized(o0=reference(uri, len(value))))
        return SUCCESS

    world.runner.script = play


async def value_of(world: World, outputs_uri: str) -> object:
    return plain(parsed(await world.blobs.get(outputs_uri))["o0"], world.blobs)


async def test_a_large_value_outlives_the_folder_it_came_from() -> None:
    world = World(cached_task())
    offloads(world, "first")
    await world.run(inputs=serialized(a=7))
    await world.blobs.delete(world.blobs.uri(layout.execution_prefix(EXECUTION)))
    second = await world.run(inputs=serialized(a=7), execution=SECOND)
    assert (await said(world, execution=SECOND))[-1] == ("SUCCEEDED", "CACHE_HIT")
    assert await value_of(world, second.outputs_uri) == "first"


async def test_a_name_that_is_used_again_changes_nothing_of_what_was_kept() -> None:
    world = World(cached_task())
    offloads(world, "first")
    await world.run(inputs=serialized(a=7))
    # Another task writes to the very same place.
    uri = world.blobs.uri(f"{layout.execution_prefix(EXECUTION)}/n0/data/0/o0_offloaded_metadata.pb")
    await world.blobs.put(uri, literal("other").SerializeToString())
    second = await world.run(inputs=serialized(a=7), execution=SECOND)
    assert await value_of(world, second.outputs_uri) == "first"


async def test_overwriting_does_not_change_what_others_have_taken() -> None:
    world = World(cached_task())
    offloads(world, "first")
    await world.run(inputs=serialized(a=7))
    second = await world.run(inputs=serialized(a=7), execution=SECOND)
    offloads(world, "third")
    await world.run(inputs=serialized(a=7), execution=THIRD, overwrite_cache=True)
    assert await value_of(world, second.outputs_uri) == "first"
    fourth = await world.run(inputs=serialized(a=7), execution=ExecutionId("p", "d", "e4"))
    assert await value_of(world, fourth.outputs_uri) == "third"


async def test_an_entry_whose_value_is_gone_is_none() -> None:
    world = World(cached_task())
    offloads(world, "first")
    await world.run(inputs=serialized(a=7))
    for uri in [uri for uri in world.blobs.objects if "/cache/" in uri and uri.endswith("_offloaded_metadata.pb")]:
        del world.blobs.objects[uri]
    offloads(world, "again")
    second = await world.run(inputs=serialized(a=7), execution=SECOND)
    assert await said(world, execution=SECOND) == POPULATED
    assert await value_of(world, second.outputs_uri) == "again"


async def test_a_list_of_references_is_kept_with_its_values() -> None:
    world = World(cached_task())
    uri = world.blobs.uri("elsewhere/item_offloaded_metadata.pb")
    await world.blobs.put(uri, literal("inside").SerializeToString())
    world.runner.script = gives(world.blobs, serialized(o0=["plain", reference(uri, 9)]))
    await world.run(inputs=serialized(a=7))
    del world.blobs.objects[uri]
    second = await world.run(inputs=serialized(a=7), execution=SECOND)
    assert (await said(world, execution=SECOND))[-1] == ("SUCCEEDED", "CACHE_HIT")
    assert await value_of(world, second.outputs_uri) == ["plain", "inside"]
