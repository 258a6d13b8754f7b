from __future__ import annotations

import anyio
import pytest

from tests.contract.flaky import Request
from tests.contract.s3_world import Place, s3_client, s3_store, spoilt_store

pytestmark = pytest.mark.service("s3")
COUNT = 2500


async def test_pages_are_listed_once_each_and_deleted() -> None:
    calls: list[str] = []

    def count(request: Request) -> None:
        calls.append(request.method)

    async with spoilt_store(count) as (store, _):
        async with anyio.create_task_group() as tasks:
            for number in range(COUNT):
                tasks.start_soon(store.put, store.uri(f"n1/{number}"), b"")
        calls.clear()
        found = [uri async for uri in store.list(store.uri("n1"))]
        assert sorted(found) == sorted(store.uri(f"n1/{number}") for number in range(COUNT))
        assert calls == ["GET"] * 3
        await store.delete(store.uri("n1"))
        assert [uri async for uri in store.list(store.uri("n1"))] == []
        assert calls.count("POST") == 3


async def test_names_that_no_uri_can_have_are_left_out_and_deleted_with_their_prefix() -> None:
    place = Place.found()
    async with s3_store() as store, s3_client(place) as client:
        key = store.uri("raw").removeprefix(f"s3://{place.bucket}/")
        for name in ("good", "a::b"):
            await client.put_object(Bucket=place.bucket, Key=f"{key}/{name}", Body=b"x")
        assert [uri async for uri in store.list(store.uri("raw"))] == [store.uri("raw/good")]
        await store.delete(store.uri("raw"))
        assert "Contents" not in await client.list_objects_v2(Bucket=place.bucket, Prefix=key)
