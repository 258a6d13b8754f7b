from __future__ import annotations

import random
from typing import Literal

import pytest

from engine.model.errors import Defect, ErrorKind, Failure
from engine.model.state import Fact
from engine.ports.eventlog import Changes
from tests.contract.kafka_world import kafka_world
from tests.contract.log_nouns import execution, named, node

pytestmark = pytest.mark.service("kafka")
MIB = 2**20


def large(number: int, size: int) -> Fact:
    text = random.Random(number).randbytes(size // 2).hex()
    return Fact(named("a"), number, 1.0, "FAILED", error=Failure("Big", ErrorKind.USER, text))


@pytest.mark.parametrize("compression", ["none", "lz4", "zstd"])
async def test_many_and_large_ones_in_one_commit(compression: Literal["none", "lz4", "zstd"]) -> None:
    facts = [large(number, size) for number, size in enumerate([10, 3 * MIB, 100, 700_000, 700_000, 4 * MIB, 1], 1)]
    async with kafka_world(compression=compression) as world:
        nodes = [(named("a"), node(f"n{k}")) for k in range(3000)]
        await world.log.commit((), Changes(executions=[execution("a")], nodes=nodes, facts=facts))
        assert await world.log.history(named("a")) == facts
        await world.crash()
        (snapshot,) = [snapshot async for snapshot in world.log.restore()]
        assert len(snapshot.nodes) == 3000


async def test_one_that_is_too_large_is_named_before_anything_is_written() -> None:
    async with kafka_world(max_record_bytes=MIB) as world:
        with pytest.raises(
            Defect, match=r"a record of history with the key p:d:a has 10\d+ bytes, more than the 1048576"
        ):
            await world.log.commit((), Changes(executions=[execution("a")], facts=[large(1, MIB)]))
        assert await world.log.executions() == []
        await world.log.commit((), Changes(executions=[execution("a")], facts=[large(1, 100)]))
        assert [it.sequence for it in await world.log.history(named("a"))] == [1]
