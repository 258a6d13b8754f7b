from __future__ import annotations

import random

import anyio
import pytest

from engine.adapters.s3.blobs import S3Blobs
from tests.contract.flaky import Flaky, Request
from tests.contract.s3_world import spoilt_store

pytestmark = pytest.mark.service("s3")
MIB = 2**20
PART = 5 * MIB


class Meter:
    """How many parts were on their way at once."""

    def __init__(self) -> None:
        self.proxy: Flaky | None = None
        self.most = 0

    def __call__(self, request: Request) -> None:
        if request.part and self.proxy is not None:
            self.most = max(self.most, sum(other.part > 0 for other in self.proxy.busy))


async def test_parts_of_one_writer_are_sent_at_once_and_put_in_order() -> None:
    data, meter = random.Random(1).randbytes(41 * MIB), Meter()
    async with spoilt_store(meter, part_bytes=PART, parallel_parts=4) as (store, meter.proxy):
        async with store.writer(store.uri("a")) as writer:
            for start in range(0, len(data), 700_000):
                await writer.write(memoryview(data)[start : start + 700_000])
        assert await store.get(store.uri("a")) == data
        assert 2 <= meter.most <= 4
        assert sorted(request.part for request in meter.proxy.seen if request.part) == list(range(1, 10))


async def test_all_writers_share_the_bound() -> None:
    async def write(store: S3Blobs, number: int) -> None:
        async with store.writer(store.uri(f"{number}")) as writer:
            for _ in range(11):
                await writer.write(bytes([number]) * MIB)

    meter = Meter()
    async with spoilt_store(meter, part_bytes=PART, parallel_parts=3) as (store, meter.proxy):
        async with anyio.create_task_group() as tasks:
            for number in range(4):
                tasks.start_soon(write, store, number)
        assert meter.most <= 3
        for number in range(4):
            assert await store.get(store.uri(f"{number}")) == bytes([number]) * 11 * MIB
