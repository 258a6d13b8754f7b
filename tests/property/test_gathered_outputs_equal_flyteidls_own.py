"""Whatever the elements' values are: the gathered list, inline or offloaded, is what flyteidl itself would write."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.adapters.memory.blobs import MemoryBlobs
from engine.data import collected
from engine.data.gather import gather
from engine.data.references import index_uri
from engine.data.resolve import resolve
from engine.data.stored import unpacked
from engine.model.limits import OffloadLimits
from tests.dataplane import ALWAYS, NEVER, Literal, finished_map, gathering, literal, parsed, promise
from tests.programs import mapped, task
from tests.property.values import literals

SPEC = mapped(task("any"))
values = st.lists(literals, max_size=12)


async def gathered(values: list[Literal], failed: set[int], limits: OffloadLimits) -> tuple[MemoryBlobs, str]:
    blobs = MemoryBlobs()
    elements = await finished_map(blobs, values, failed=[index for index in failed if index < len(values)])
    return blobs, await gather(blobs, limits, gathering(SPEC, elements))


def expected(values: list[Literal], failed: set[int]) -> Literal:
    """A list with a bare none where an element failed."""
    return literal([None if index in failed else value for index, value in enumerate(values)])


@given(values, st.sets(st.integers(0, 12)))
async def test_an_inline_list_is_byte_for_byte_flyteidls(values: list[Literal], failed: set[int]) -> None:
    blobs, uri = await gathered(values, failed, NEVER)
    assert blobs.objects[uri] == map_of(expected(values, failed))


@given(values, st.sets(st.integers(0, 12)))
async def test_an_offloaded_list_is_byte_for_byte_flyteidls_and_its_index_finds_every_item(
    values: list[Literal], failed: set[int]
) -> None:
    blobs, uri = await gathered(values, failed, ALWAYS)
    found = parsed(blobs.objects[uri])["o0"].offloaded_metadata
    stored = blobs.objects[found.uri]
    assert stored == expected(values, failed).SerializeToString(deterministic=True)
    assert found.size_bytes == len(stored)
    beside = index_uri(found.uri)
    assert beside is not None
    offsets = unpacked(blobs.objects[beside])
    assert len(offsets) == len(values) + 1
    assert offsets[-1] == len(stored)
    for index, item in enumerate(expected(values, failed).collection.literals):
        one = parsed(await resolve(blobs, [promise("x", "n1", "o0", index)], {"n1": uri}))["x"]
        assert canonical(one) in (canonical(item), canonical(out_of_union(item)))


@settings(max_examples=60)
@given(st.lists(st.integers(0, 700), max_size=14), st.sets(st.integers(0, 14)))
async def test_elements_larger_than_their_share_are_streamed_to_the_same_bytes(
    sizes: list[int], failed: set[int]
) -> None:
    values = [literal("x" * size) for size in sizes]
    small = {"BATCH_BYTES": 256, "SMALLEST_HEAD": 16, "BATCH_ELEMENTS": 3}
    before = {name: getattr(collected, name) for name in small}
    try:
        for name, value in small.items():
            setattr(collected, name, value)
        blobs, uri = await gathered(values, failed, NEVER)
    finally:
        for name, value in before.items():
            setattr(collected, name, value)
    assert blobs.objects[uri] == map_of(expected(values, failed))


def map_of(value: Literal) -> bytes:
    from tests.dataplane import serialized

    return serialized(o0=value)


def canonical(value: Literal) -> bytes:
    return bytes(value.SerializeToString(deterministic=True))


def out_of_union(value: Literal) -> Literal:
    """A reference is taken out of a union when it is passed on."""
    inner = value
    while inner.scalar.HasField("union"):
        inner = inner.scalar.union.value
    return inner if inner.HasField("offloaded_metadata") else value
