"""User case S16: the service has done it, and its answer did not arrive."""

from __future__ import annotations

import random

import pytest

from tests.contract.flaky import Cut, Fault, Lost, Request
from tests.contract.s3_world import spoilt_store, unfinished

pytestmark = pytest.mark.service("s3")
MIB = 2**20


class Once:
    """Spoils the first request of a method, and no other."""

    def __init__(self, method: str, fault: Fault, query: str = "") -> None:
        self.method, self.fault, self.query = method, fault, query
        self.spent = False

    def __call__(self, request: Request) -> Fault | None:
        if self.spent or request.method != self.method or self.query not in request.target:
            return None
        self.spent = True
        return self.fault


async def test_a_put_is_made_again_with_the_same_bytes() -> None:
    async with spoilt_store(Once("PUT", Lost())) as (store, proxy):
        await store.put(store.uri("a"), b"some bytes")
        assert await store.get(store.uri("a")) == b"some bytes"
        puts = [request for request in proxy.seen if request.method == "PUT"]
        assert [(put.key.rpartition("/")[2], put.body) for put in puts] == [("a", b"some bytes")] * 2


async def test_a_part_is_sent_again_in_its_full_length() -> None:
    data = random.Random(1).randbytes(11 * MIB)
    async with spoilt_store(Once("PUT", Lost(), "partNumber=2")) as (store, proxy):
        async with store.writer(store.uri("a")) as writer:
            await writer.write(data)
        assert await store.get(store.uri("a")) == data
        sizes = [(request.part, len(request.body)) for request in proxy.seen if request.part]
        assert sorted(sizes) == [(1, 8 * MIB), (2, 3 * MIB), (2, 3 * MIB)]


async def test_a_completion_is_found_to_have_happened() -> None:
    data = random.Random(2).randbytes(11 * MIB)
    async with spoilt_store(Once("POST", Lost(), "uploadId=")) as (store, proxy):
        async with store.writer(store.uri("a")) as writer:
            await writer.write(data)
        assert await store.get(store.uri("a")) == data
        completions = [request for request in proxy.seen if request.method == "POST" and "uploadId" in request.query]
        assert len(completions) == 2
        assert [request.method for request in proxy.seen].count("DELETE") == 0


async def test_a_deletion_is_made_again() -> None:
    async with spoilt_store(Once("POST", Lost(), "delete")) as (store, _):
        await store.put(store.uri("a"), b"x")
        await store.delete(store.uri("a"))
        assert await store.size(store.uri("a")) is None


@pytest.mark.parametrize(("start", "end"), [(0, None), (10, 2 * MIB), (-100, None)])
async def test_a_body_that_breaks_off_is_read_again(start: int, end: int | None) -> None:
    data = random.Random(3).randbytes(3 * MIB)
    async with spoilt_store(Once("GET", Cut(50))) as (store, proxy):
        await store.put(store.uri("a"), data)
        assert await store.get(store.uri("a"), start, end) == data[start:end]
        assert [request.method for request in proxy.seen].count("GET") == 2


async def test_no_upload_is_left_by_any_of_this() -> None:
    async with spoilt_store(Once("POST", Lost(), "uploadId=")) as (store, _):
        async with store.writer(store.uri("a")) as writer:
            await writer.write(bytes(11 * MIB))
        assert await unfinished(store) == []
