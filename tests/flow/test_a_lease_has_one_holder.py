"""Of those who want a lease one holds it, in whichever engine; a holder that is dead loses it."""

from __future__ import annotations

import anyio
import pytest

from engine.adapters.leases import Lease, Leases, Times
from engine.adapters.memory.blobs import MemoryBlobs

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]

FOLDER = "memory://store/lease"
TIMES = Times(beat_seconds=10, expiry_seconds=30, look_seconds=2)


async def test_the_next_one_has_it_the_moment_it_is_released() -> None:
    leases = Leases(MemoryBlobs(), times=TIMES)
    holding = 0
    order: list[str] = []

    async def work(owner: str) -> None:
        nonlocal holding
        lease = await leases.acquire(FOLDER, owner)
        holding += 1
        assert holding == 1
        order.append(owner)
        await anyio.sleep(1)
        holding -= 1
        await lease.release()

    start = anyio.current_time()
    async with anyio.create_task_group() as group:
        for owner in "abcde":
            group.start_soon(work, owner)
    assert order == list("abcde")
    assert anyio.current_time() - start == pytest.approx(5, abs=0.01)


async def held_for(lease: Lease, seconds: float) -> None:
    with anyio.move_on_after(seconds):
        await lease.hold()


async def test_another_engine_waits_as_long_as_the_holder_lives() -> None:
    blobs = MemoryBlobs()
    one, other = Leases(blobs, times=TIMES), Leases(blobs, times=TIMES)
    start = anyio.current_time()

    async def hold() -> None:
        lease = await one.acquire(FOLDER, "a")
        await held_for(lease, 300)
        await lease.release()

    async with anyio.create_task_group() as group:
        group.start_soon(hold)
        await anyio.sleep(1)
        await other.acquire(FOLDER, "b")
    assert 300 <= anyio.current_time() - start <= 300 + TIMES.look_seconds


async def test_a_dead_holder_loses_it() -> None:
    blobs = MemoryBlobs()
    lease = await Leases(blobs, times=TIMES).acquire(FOLDER, "a")
    await held_for(lease, 25)
    start = anyio.current_time()
    await Leases(blobs, times=TIMES).acquire(FOLDER, "b")
    waited = anyio.current_time() - start
    assert TIMES.expiry_seconds <= waited <= TIMES.expiry_seconds + TIMES.look_seconds


async def test_a_dead_holder_s_own_attempt_has_it_back_at_once() -> None:
    blobs = MemoryBlobs()
    await Leases(blobs, times=TIMES).acquire(FOLDER, "a")
    start = anyio.current_time()
    await Leases(blobs, times=TIMES).acquire(FOLDER, "a")
    assert anyio.current_time() == pytest.approx(start, abs=0.01)


async def test_what_an_engine_of_the_same_name_held_is_free() -> None:
    blobs = MemoryBlobs()
    await Leases(blobs, engine="home", times=TIMES).acquire(FOLDER, "a")
    start = anyio.current_time()
    await Leases(blobs, engine="home", times=TIMES).acquire(FOLDER, "b")
    assert anyio.current_time() == pytest.approx(start, abs=0.01)


async def test_one_of_many_engines_takes_over() -> None:
    blobs = MemoryBlobs()
    await Leases(blobs, times=TIMES).acquire(FOLDER, "a")
    held: list[str] = []

    async def take(owner: str) -> None:
        await Leases(blobs, times=TIMES).acquire(FOLDER, owner)
        held.append(owner)
        await anyio.sleep(TIMES.expiry_seconds / 2)
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for owner in "bcd":
            group.start_soon(take, owner)
    assert len(held) == 1
    assert len(blobs.objects) == 1


async def test_who_gives_up_waiting_leaves_nothing() -> None:
    leases = Leases(MemoryBlobs(), times=TIMES)
    lease = await leases.acquire(FOLDER, "a")
    with anyio.move_on_after(5):
        await leases.acquire(FOLDER, "b")
    await lease.release()
    again = await leases.acquire(FOLDER, "c")
    await again.release()
    assert leases._places == {}
