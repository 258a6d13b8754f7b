"""A thousand submissions of a new package at once read and compile it once."""

from __future__ import annotations

import anyio
import pytest

from engine.loop.residents import Residents
from engine.model.errors import BadInput
from engine.model.graph import Program


class Store:
    """Loading takes until `there` is set. `missing`: how often it fails before."""

    def __init__(self, missing: int = 0) -> None:
        self.loads, self.missing, self.there = 0, missing, anyio.Event()

    async def load(self, digest: str) -> Program:
        self.loads += 1
        await self.there.wait()
        if self.loads <= self.missing:
            raise BadInput("not there")
        return Program(digest, {}, {}, {})


async def ask_at_once(residents: Residents, store: Store, times: int = 1000) -> list[Program]:
    found: list[Program] = []

    async def ask() -> None:
        found.append(await residents.program("d"))

    async with anyio.create_task_group() as group:
        for _ in range(times):
            group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        store.there.set()
    return found


async def test_all_get_the_same_one() -> None:
    store = Store()
    residents = Residents(store.load)
    found = await ask_at_once(residents, store)
    assert (len(found), len({id(program) for program in found}), store.loads) == (1000, 1, 1)
    assert await residents.program("d") is found[0]
    assert store.loads == 1


async def test_a_load_that_fails_is_tried_by_the_next() -> None:
    store = Store(missing=1)
    store.there.set()
    residents = Residents(store.load)
    with pytest.raises(BadInput, match="not there"):
        await residents.program("d")
    assert (await residents.program("d")).digest == "d"
    assert store.loads == 2


async def test_one_who_gives_up_leaves_it_to_the_others() -> None:
    store = Store()
    residents = Residents(store.load)
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(residents.program, "d")
            await anyio.wait_all_tasks_blocked()
            scope.cancel()
    found = await ask_at_once(residents, store, times=3)
    assert (len(found), store.loads) == (3, 2)
