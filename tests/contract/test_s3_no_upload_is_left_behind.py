"""User cases S16 and S30: a writer that fails, or is told to stop, takes back what it sent."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest

from engine.adapters.s3.blobs import S3Blobs
from engine.model.errors import StoreRefused, Transient
from tests.contract.flaky import Answer, Fault, Request, Silence
from tests.contract.s3_world import spoilt_store, unfinished

pytestmark = pytest.mark.service("s3")
MIB = 2**20
PART = 5 * MIB


def nothing(request: Request) -> Fault | None:
    return None


def part_three(fault: Fault) -> Callable[[Request], Fault | None]:
    return lambda request: fault if request.part == 3 else None


def completion(fault: Fault) -> Callable[[Request], Fault | None]:
    return lambda request: fault if request.method == "POST" and "uploadId" in request.query else None


async def write(store: S3Blobs, mib: int) -> None:
    async with store.writer(store.uri("a")) as writer:
        for _ in range(mib):
            await writer.write(bytes(MIB))


async def nothing_is_left(store: S3Blobs) -> None:
    assert await unfinished(store) == []
    assert await store.size(store.uri("a")) is None


async def test_a_part_that_is_refused() -> None:
    async with spoilt_store(part_three(Answer(403, "AccessDenied")), part_bytes=PART) as (store, _):
        with pytest.raises(StoreRefused, match=r"/a can't be written: the service answers 403"):
            await write(store, 40)
        await nothing_is_left(store)


async def test_a_part_that_fails_for_ever() -> None:
    fault = Answer(503, "SlowDown")
    async with spoilt_store(part_three(fault), part_bytes=PART, patience_seconds=0.2) as (store, _):
        with pytest.raises(Transient, match=r"/a can't be written: the service answers 503 SlowDown"):
            await write(store, 17)
        await nothing_is_left(store)


async def test_a_completion_that_fails_for_ever() -> None:
    fault = Answer(500, "InternalError")
    async with spoilt_store(completion(fault), part_bytes=PART, patience_seconds=0.2) as (store, _):
        with pytest.raises(Transient, match=r"/a can't be written: the service answers 500 InternalError"):
            await write(store, 17)
        await nothing_is_left(store)


@pytest.mark.parametrize("mib", [0, 4, 5, 12, 40])
async def test_a_writer_that_is_told_to_stop(mib: int) -> None:
    async with spoilt_store(nothing, part_bytes=PART) as (store, _):
        with anyio.CancelScope() as scope:
            async with store.writer(store.uri("a")) as writer:
                for _ in range(mib):
                    await writer.write(bytes(MIB))
                scope.cancel()
                await anyio.sleep_forever()
        assert scope.cancelled_caught
        await nothing_is_left(store)


async def test_a_stop_while_the_upload_begins() -> None:
    stop = anyio.CancelScope()

    def begins(request: Request) -> Fault | None:
        if "uploads" in request.query:
            stop.cancel()
        return None

    async with spoilt_store(begins, part_bytes=PART) as (store, proxy):
        with stop:
            await write(store, 12)
        assert stop.cancelled_caught
        assert any("uploads" in request.query for request in proxy.seen)
        await nothing_is_left(store)


async def test_a_stop_while_a_part_hears_nothing() -> None:
    stop = anyio.CancelScope()

    def silent(request: Request) -> Fault | None:
        if request.part:
            stop.cancel()
            return Silence()
        return None

    async with spoilt_store(silent, part_bytes=PART) as (store, _):
        with anyio.fail_after(10), stop:
            await write(store, 12)
        assert stop.cancelled_caught
        await nothing_is_left(store)


async def test_a_program_that_breaks_while_it_writes() -> None:
    async with spoilt_store(nothing, part_bytes=PART) as (store, _):
        for mib in (1, 12):
            with pytest.raises(ZeroDivisionError):  # noqa: PT012
                async with store.writer(store.uri("a")) as writer:
                    await writer.write(bytes(mib * MIB))
                    raise ZeroDivisionError
        await nothing_is_left(store)
