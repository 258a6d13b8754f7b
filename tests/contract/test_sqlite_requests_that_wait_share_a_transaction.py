from __future__ import annotations

from functools import partial

import anyio
import pytest
from anyio.lowlevel import checkpoint

from engine.adapters.sqlite import writer
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


async def test_a_submission_waits_a_moment_for_its_turn(
    sqlite_world: SqliteWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Far longer than the test takes: only the commit ends the wait.
    monkeypatch.setattr(writer, "LINGER_SECONDS", 60)
    log = sqlite_world.log
    async with anyio.create_task_group() as group:
        group.start_soon(partial(log.append, [submitted("e1")], durable=True))
        records = await log.read()
        await log.commit(records, Changes(executions=[execution("e1")]))
    assert log.transactions == 1
    assert len(await sqlite_world.stored()) == 1
