"""User case S16: what can't get better is told at once, with the object's name."""

from __future__ import annotations

import pytest

from engine.model.errors import StoreFailed, StoreRefused
from tests.contract.flaky import Answer, Fault, Request
from tests.contract.s3_world import spoilt_store

pytestmark = pytest.mark.service("s3")


async def test_one_object_that_may_not_be_read_fails_at_the_first_try() -> None:
    def forbid(request: Request) -> Fault | None:
        return Answer(403, "AccessDenied") if request.key.endswith("n1/7") and request.method == "GET" else None

    async with spoilt_store(forbid) as (store, proxy):
        uris = [store.uri(f"n1/{number}") for number in range(10)]
        for uri in uris:
            await store.put(uri, b"x")
        proxy.seen.clear()
        with pytest.raises(StoreRefused) as caught:
            await store.get_many(uris)
        assert str(caught.value).startswith(f"{uris[7]} can't be read: the service answers 403 AccessDenied")
        assert sum(request.key.endswith("n1/7") for request in proxy.seen) == 1
        assert await store.get_many(uris[:7]) == [b"x"] * 7


async def test_credentials_that_have_expired_stop_the_engine() -> None:
    def expire(request: Request) -> Fault | None:
        return Answer(400, "ExpiredToken")

    async with spoilt_store(expire) as (store, proxy):
        with pytest.raises(StoreFailed) as caught:
            await store.put(store.uri("a"), b"x")
        assert str(caught.value) == (
            f"{store.uri('a')} can't be written: the service answers 400 ExpiredToken (as the test wants it). "
            "The engine stops; nothing acknowledged is lost, a resume goes on"
        )
        assert len(proxy.seen) == 1


async def test_an_object_that_can_t_be_deleted_is_named() -> None:
    body = "<DeleteResult><Error><Key>it</Key><Code>AccessDenied</Code><Message>locked</Message></Error></DeleteResult>"

    def refuse(request: Request) -> Fault | None:
        return Answer(200, "", body) if request.method == "POST" else None

    async with spoilt_store(refuse) as (store, _):
        with pytest.raises(StoreRefused, match=r"can't be deleted: .*AccessDenied \(locked: key it\)"):
            await store.delete(store.uri("a"))
