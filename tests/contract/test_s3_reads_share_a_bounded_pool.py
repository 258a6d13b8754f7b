"""User case S16: many reads at once must not be a load of their own."""

from __future__ import annotations

import pytest

from tests.contract.flaky import Request
from tests.contract.s3_world import spoilt_store

pytestmark = pytest.mark.service("s3")


async def test_a_thousand_reads_go_through_ten_connections() -> None:
    def nothing(request: Request) -> None:
        """Every answer is as it should be."""

    async with spoilt_store(nothing, max_connections=10, connect_seconds=5) as (store, proxy):
        uris = [store.uri(f"n1/{number}") for number in range(1000)]
        for number in range(0, 1000, 100):
            await store.put(uris[number], str(number).encode())
        proxy.busiest = 0
        found = await store.get_many(uris)
        assert found == [None if number % 100 else str(number).encode() for number in range(1000)]
        assert 2 <= proxy.busiest <= 10
