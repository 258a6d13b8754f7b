from __future__ import annotations

import pytest

from engine.adapters.sqlite.log import SqliteLog
from engine.model.errors import ErrorKind, Failure, LogFailed
from engine.model.state import Fact
from engine.ports.eventlog import Changes
from tests.contract.log_adapters import SqliteWorld
from tests.contract.log_nouns import named, submitted, take

BIG = Fact(named("a"), 1, 1.0, "FAILED", error=Failure("Big", ErrorKind.USER, "x" * 4_000_000))


async def test_the_message_has_the_file_and_the_cause(sqlite_world: SqliteWorld) -> None:
    await sqlite_world.fill_disk()
    with pytest.raises(LogFailed) as caught:
        await sqlite_world.log.commit((), Changes(facts=[BIG]))
    assert str(caught.value) == (
        f"the log {sqlite_world.path} can't be written: database or disk is full (SQLITE_FULL); nothing that was "
        "acknowledged is lost, start again when the cause is gone"
    )


async def test_once_there_is_space_again_a_new_start_goes_on(sqlite_world: SqliteWorld) -> None:
    await sqlite_world.log.append([submitted("a")], durable=True)
    await sqlite_world.fill_disk()
    with pytest.raises(LogFailed):
        await sqlite_world.log.commit((), Changes(facts=[BIG]))
    await sqlite_world.leave()
    async with SqliteLog.open(sqlite_world.home) as log:
        assert await take(log, Changes(facts=[BIG])) == [submitted("a")]
        assert await log.history(named("a")) == [BIG]
