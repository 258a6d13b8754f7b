from __future__ import annotations

from functools import partial

import anyio
from anyio.lowlevel import checkpoint

from engine.ports.eventlog import Changes
from tests.contract.log_adapters import SqliteWorld, nobody_can_write
from tests.contract.log_nouns import execution, submitted


async def test_a_hundred_appends_and_a_commit_take_two_transactions_at_most(sqlite_world: SqliteWorld) -> None:
    log = sqlite_world.log
    async with anyio.create_task_group() as group:
        with nobody_can_write(sqlite_world.path):
            for number in range(100):
                group.start_soon(partial(log.append, [submitted(f"e{number}")], durable=True))
            group.start_soon(log.commit, (), Changes(executions=[execution("a")]))
            for _ in range(3):
                await checkpoint()
    assert len(await sqlite_world.stored()) == 100
    assert await log.executions() == [execution("a")]
    # The first request may have been taken alone; all others waited together.
    assert 1 <= log.transactions <= 2
