"""S17: the size of the serialized literal decides, not megabytes rounded and not another form of the value."""

from __future__ import annotations

import pytest

from engine.adapters.memory.blobs import MemoryBlobs
from engine.data.gather import gather
from engine.model.errors import ErrorKind, Permanent
from engine.model.limits import MIB, OffloadLimits
from tests.dataplane import NEVER, SMALL, Literal, finished_map, gathering, parsed, plain
from tests.programs import STR, interface, list_of, mapped, task

TEXTS = mapped(task("text", interface({"a": STR}, {"o0": STR})))


async def gathered(last: int, limits: OffloadLimits) -> tuple[MemoryBlobs, Literal]:
    """1,011 strings of 1,024 `a` and one of `last`."""
    blobs = MemoryBlobs()
    values = ["a" * 1024] * 1011 + ["a" * last]
    uri = await gather(blobs, limits, gathering(TEXTS, await finished_map(blobs, values)))
    found = parsed(blobs.objects[uri])["o0"]
    assert plain(found, blobs) == values
    return blobs, found


@pytest.mark.parametrize(("last", "size"), [(1163, MIB - 1), (1164, MIB), (1165, MIB + 1)])
async def test_from_the_minimum_on_a_list_is_offloaded(last: int, size: int) -> None:
    blobs, found = await gathered(last, SMALL)
    if size < SMALL.min_size:
        assert found.ByteSize() == size
        assert found.WhichOneof("value") == "collection"
        return
    stored = blobs.objects[found.offloaded_metadata.uri]
    assert found.offloaded_metadata.uri.endswith("/n1/data/0/o0_offloaded_metadata.pb")
    assert found.offloaded_metadata.size_bytes == len(stored) == size
    assert found.offloaded_metadata.inferred_type == list_of(STR)
    assert found.hash == ""


@pytest.mark.parametrize(("maximum", "fits"), [(MIB, False), (MIB - 1, False), (MIB + 1, True)])
async def test_at_the_maximum_and_above_the_node_fails(maximum: int, fits: bool) -> None:
    limits = OffloadLimits(min_size=1, max_size=maximum)
    if fits:
        assert (await gathered(1164, limits))[1].offloaded_metadata.size_bytes == MIB
        return
    with pytest.raises(Permanent) as problem:
        await gathered(1164, limits)
    failure = problem.value.failure
    assert (failure.code, failure.kind, problem.value.recoverable) == ("OffloadTooLarge", ErrorKind.USER, False)
    assert f"output 'o0' is {MIB} bytes; offloading.max_size is {maximum} bytes" in failure.message


async def test_without_offloading_a_list_is_always_inline() -> None:
    for last in (1164, 1165):
        assert (await gathered(last, NEVER))[1].WhichOneof("value") == "collection"
