"""Each package is read once for all partitions of a process, and forgotten when many others came after it."""

from __future__ import annotations

from collections import Counter

import anyio
import anyio.lowlevel
import pytest

from engine.loop.programs import KEPT, Programs
from engine.model.errors import BadInput
from engine.model.graph import Program


class Store:
    def __init__(self) -> None:
        self.loads: Counter[str] = Counter()
        self.broken = False

    async def load(self, digest: str) -> Program:
        self.loads[digest] += 1
        await anyio.lowlevel.checkpoint()
        if self.broken:
            raise BadInput("not there")
        return Program(digest, {}, {}, {})


async def test_all_who_ask_at_once_get_the_same_one() -> None:
    store, found = Store(), list[Program]()
    programs = Programs(store.load)

    async def ask() -> None:
        found.append(await programs("d"))

    async with anyio.create_task_group() as group:
        for _ in range(24):
            group.start_soon(ask)
    assert (len({id(each) for each in found}), len(found), store.loads["d"]) == (1, 24, 1)


async def test_the_one_that_was_not_used_for_longest_goes_first() -> None:
    store = Store()
    programs = Programs(store.load)
    await programs("first")
    await programs("second")
    for number in range(KEPT - 2):
        await programs(f"p{number}")
    await programs("first")
    await programs("one more")
    await programs("first")
    assert (store.loads["first"], store.loads["second"]) == (1, 1)
    await programs("second")
    assert store.loads["second"] == 2


async def test_a_failure_is_not_kept() -> None:
    store = Store()
    programs = Programs(store.load)
    store.broken = True
    with pytest.raises(BadInput):
        await programs("d")
    store.broken = False
    assert (await programs("d")).digest == "d"
