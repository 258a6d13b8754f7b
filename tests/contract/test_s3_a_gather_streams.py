"""From S3 to S3, reading and writing at once, in memory that does not grow with the bytes."""

from __future__ import annotations

import tracemalloc

import pytest

from engine.data.gather import gather
from engine.model.limits import MIB, OffloadLimits
from tests.contract.s3_world import s3_store, unfinished
from tests.dataplane import finished_map, gathering, parsed
from tests.programs import INT, STR, interface, mapped, task

pytestmark = pytest.mark.service("s3")
COUNT, LENGTH = 100, 1_000_000
BOUND = 64 * MIB
"""Five parts of 5 MiB are on their way or filling, each twice for a moment; elements are read 2 MiB at a time."""


async def test_a_hundred_megabytes_pass_through_less_memory() -> None:
    texts = mapped(task("texts", interface({"a": INT}, {"o0": STR})))
    async with s3_store(part_bytes=5 * MIB, parallel_parts=4) as store:
        elements = await finished_map(store, [f"{index:06d}".ljust(LENGTH, "x") for index in range(COUNT)])
        tracemalloc.start()
        try:
            uri = await gather(store, OffloadLimits(min_size=MIB), gathering(texts, elements))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        found = parsed(await store.get(uri))["o0"].offloaded_metadata
        assert found.size_bytes > COUNT * LENGTH
        assert await store.size(found.uri) == found.size_bytes
        tail = await store.get(found.uri, -LENGTH - 100)
        assert f"{COUNT - 1:06d}xxx".encode() in tail
        assert await unfinished(store) == []
    assert peak < BOUND, f"{peak / MIB:.0f} MiB"
