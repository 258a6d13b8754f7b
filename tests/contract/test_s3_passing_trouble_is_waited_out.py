"""User case S16, and a service that refuses half of all calls."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import anyio
import pytest

from engine.adapters.s3 import calls
from engine.model.errors import Transient
from tests.contract.flaky import Answer, Fault, Request, Reset, Silence
from tests.contract.s3_world import spoilt_store, unfinished

pytestmark = pytest.mark.service("s3")
MIB = 2**20
SLOW_DOWN = Answer(503, "SlowDown")


async def test_the_first_two_tries_of_300_objects_are_throttled() -> None:
    tries: Counter[str] = Counter()

    def throttle(request: Request) -> Fault | None:
        tries[request.key] += 1
        return SLOW_DOWN if request.method == "GET" and tries[request.key] < 3 else None

    async with spoilt_store(throttle) as (store, _):
        uris = [store.uri(f"n1/{number}") for number in range(300)]
        async with anyio.create_task_group() as tasks:
            for uri in uris:
                tasks.start_soon(store.put, uri, uri.encode())
        tries.clear()
        assert await store.get_many(uris) == [uri.encode() for uri in uris]
        assert set(tries.values()) == {3}


def test_waits_grow_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = itertools.cycle([0.5, 1.0])
    monkeypatch.setattr(random, "uniform", lambda low, high: low + (high - low) * (next(shares) * 2 - 1))
    assert [calls._wait_seconds(n) for n in (1, 1, 2, 2, 7, 7, 100, 100)] == [
        0.025, 0.05, 0.05, 0.1, 1.6, 3.2, 2.5, 5.0
    ]  # fmt: skip


async def test_everything_works_when_half_of_all_calls_fail() -> None:
    chance = random.Random(7)

    def half(request: Request) -> Fault | None:
        return SLOW_DOWN if chance.random() < 0.5 else None

    async with spoilt_store(half, part_bytes=5 * MIB) as (store, proxy):
        large = random.Random(8).randbytes(12 * MIB)
        async with store.writer(store.uri("a/large")) as writer:
            for start in range(0, len(large), MIB):
                await writer.write(large[start : start + MIB])
        async with anyio.create_task_group() as tasks:
            for number in range(30):
                tasks.start_soon(store.put, store.uri(f"a/{number}"), b"%d" % number)
        assert await store.get(store.uri("a/large")) == large
        assert await store.get(store.uri("a/large"), -5) == large[-5:]
        assert await store.get_many([store.uri(f"a/{number}") for number in range(31)]) == [
            *(b"%d" % number for number in range(30)),
            None,
        ]
        assert len([uri async for uri in store.list(store.uri("a"))]) == 31
        await store.delete(store.uri("a"))
        assert [uri async for uri in store.list(store.uri("a"))] == []
        assert await unfinished(store) == []
        assert len(proxy.seen) > 100, "half of the calls were made again"


async def test_a_silent_service_is_given_up_in_time() -> None:
    def silent(request: Request) -> Fault | None:
        return Silence()

    async with spoilt_store(silent, connect_seconds=0.1, read_seconds=0.1, patience_seconds=0.3) as (store, proxy):
        with anyio.fail_after(5), pytest.raises(Transient) as caught:
            await store.put(store.uri("a"), b"x")
        assert str(caught.value).startswith(f"{store.uri('a')} can't be written: ")
        assert 2 <= len(proxy.seen) <= 4, "tried again, while its patience lasts"
        proxy.seen.clear()
        with anyio.fail_after(5), pytest.raises(Transient, match="can't be read"):
            await store.get(store.uri("a"))


async def test_a_service_that_breaks_every_connection_is_given_up_in_time() -> None:
    def reset(request: Request) -> Fault | None:
        return Reset()

    async with spoilt_store(reset, patience_seconds=0.3) as (store, proxy):
        with anyio.fail_after(5), pytest.raises(Transient, match="can't be written"):
            await store.put(store.uri("a"), b"x")
        assert len(proxy.seen) > 2
