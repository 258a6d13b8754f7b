from __future__ import annotations

import logging
from collections.abc import Callable

import anyio
import pytest

from tests.contract.flaky import Answer, Fault, Lost, Request
from tests.contract.s3_world import s3_store, spoilt_store

pytestmark = pytest.mark.service("s3")
TAKEN = Answer(412, "PreconditionFailed")


def conditional(first: Fault | None = None) -> Callable[[Request], Fault | None]:
    """As a service that refuses a second write where it is asked to; `first` befalls the very first write."""
    written: set[str] = set()
    faults = [first]

    def choose(request: Request) -> Fault | None:
        if request.method != "PUT" or request.headers.get("if-none-match") != "*":
            return None
        if request.key in written:
            return TAKEN
        written.add(request.key)
        return faults.pop() if faults else None

    return choose


async def test_of_many_engines_one_wins() -> None:
    async with spoilt_store(conditional()) as (store, _):
        winners: list[bytes] = []

        async def create(uri: str, data: bytes) -> None:
            if await store.create(uri, data):
                winners.append(data)

        assert await store.create(store.uri("first"), b"x")
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(create, store.uri("a"), b"%d" % number)
        assert [await store.get(store.uri("a"))] == winners


async def test_a_service_that_knows_how_is_asked_once_for_each_object() -> None:
    async with spoilt_store(conditional()) as (store, proxy):
        assert await store.create(store.uri("first"), b"x")
        proxy.seen.clear()
        assert await store.create(store.uri("a"), b"x")
        assert not await store.create(store.uri("a"), b"y")
        assert [request.method for request in proxy.seen] == ["PUT", "PUT", "HEAD"]


async def test_a_lost_answer_is_recognised_by_what_is_there() -> None:
    async with spoilt_store(conditional(Lost())) as (store, _):
        assert await store.create(store.uri("a"), b"mine")
        assert not await store.create(store.uri("a"), b"other")
        assert await store.get(store.uri("a")) == b"mine"


async def test_a_service_that_does_not_know_how_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "engine.adapters.s3")
    async with s3_store() as store:
        for name in ("a", "b"):
            assert await store.create(store.uri(name), b"x")
            assert not await store.create(store.uri(name), b"y")
            assert await store.get(store.uri(name)) == b"x"
    assert [record.message for record in caplog.records] == [
        "the store has no conditional writes: engines can't reserve a cache entry for each other"
    ]
