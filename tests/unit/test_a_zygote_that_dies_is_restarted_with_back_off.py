from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from anyio.abc import TaskStatus

from engine.adapters.processes.keeper import READY_SECONDS, STEADY_SECONDS, Keeper
from engine.adapters.processes.parent import Parent, Setup

pytestmark = pytest.mark.looptime


class FakeParent(Parent):
    """Ready after `delay` seconds (never, if it is infinite); lives until it is killed."""

    def __init__(self, delay: float) -> None:
        super().__init__(Setup("python", True, {}, ("MARK", "1"), Path("words")))
        self.delay = delay
        self.killed = anyio.Event()

    def kill(self) -> None:
        self.killed.set()

    async def serve(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        self.alive = True
        task_status.started()
        with anyio.move_on_after(self.delay):
            await self.killed.wait()
        self.ready.set()
        await self.killed.wait()
        self.alive = False


async def die(parent: Parent) -> None:
    parent.kill()
    while parent.alive:
        await anyio.lowlevel.checkpoint()


async def test_delays_double_up_to_five_seconds() -> None:
    delays = []
    async with anyio.create_task_group() as tasks:
        keeper = Keeper(tasks, lambda: FakeParent(0))
        await die(await keeper.get())
        for _ in range(8):
            before = anyio.current_time()
            parent = await keeper.get()
            delays.append(round(anyio.current_time() - before, 3))
            await die(parent)
    assert delays == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]


async def test_a_long_life_is_no_storm() -> None:
    async with anyio.create_task_group() as tasks:
        keeper = Keeper(tasks, lambda: FakeParent(0))
        for _ in range(3):
            await die(await keeper.get())
        parent = await keeper.get()
        await anyio.sleep(STEADY_SECONDS + 1)
        await die(parent)
        before = anyio.current_time()
        await die(await keeper.get())
        assert round(anyio.current_time() - before, 3) == 0.1


async def test_everyone_gets_the_same_one() -> None:
    made: list[FakeParent] = []
    got: list[Parent] = []

    def make() -> Parent:
        made.append(FakeParent(1.0))
        return made[-1]

    async with anyio.create_task_group() as tasks:
        keeper = Keeper(tasks, make)

        async def get() -> None:
            got.append(await keeper.get())

        async with anyio.create_task_group() as callers:
            for _ in range(5):
                callers.start_soon(get)
        made[0].kill()
    assert len(made) == 1
    assert got == made * 5


async def test_one_that_never_gets_ready_is_given_up() -> None:
    async with anyio.create_task_group() as tasks:
        keeper = Keeper(tasks, lambda: FakeParent(float("inf")))
        parent = await keeper.get()
        assert anyio.current_time() == READY_SECONDS
        await die(parent)
