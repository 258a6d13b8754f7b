"""A name is looked up by the index of the keys: no command reads every execution to find one."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest
from anyio import to_thread

import engine.cli
from engine.adapters.sqlite.log import SqliteLog
from engine.adapters.sqlite.naming import keys_of
from engine.cli.naming import named as found_by
from engine.model.errors import BadInput
from engine.model.ids import ExecutionId
from engine.model.phases import ExecutionPhase
from engine.model.state import Execution
from engine.ports.eventlog import Changes
from tests.contract.log_adapters import SqliteWorld
from tests.contract.log_nouns import execution

PLACES = (("p", "d"), ("p", "e"), ("p-2", "d"), ("odd:%", "d"))


def _at(project: str, domain: str, name: str) -> Execution:
    made = execution("a")
    return Execution(ExecutionId(project, domain, name), made.entity, made.workflow, made.package)


async def _kept(world: SqliteWorld, records: list[Execution]) -> None:
    await world.log.commit((), Changes(executions=records))


async def test_in_every_project_and_domain(sqlite_world: SqliteWorld) -> None:
    places = [_at(project, domain, "same") for project, domain in PLACES]
    others = [_at(project, domain, name) for project, domain in PLACES for name in ("sam", "same-2", "zz", "0")]
    await _kept(sqlite_world, [*places, *others])
    async with SqliteLog.open_readonly(sqlite_world.home) as log:
        assert {it.id for it in await log.namesakes("same")} == {it.id for it in places}
        for one in places[:-1]:
            assert [it.id for it in await log.namesakes(str(one.id))] == [one.id]
        assert [await log.namesakes(wrong) for wrong in ("sa", "same-", "d:same", "p:d:", "p:x:same", "")] == [[]] * 6
        with pytest.raises(BadInput, match=r"'same' may mean any of .*p:d:same.*: give the whole of it"):
            await found_by("same", log, Path("h"))


async def test_a_name_that_is_not_there_is_answered_by_those_like_it_or_the_newest(sqlite_world: SqliteWorld) -> None:
    async with SqliteLog.open_readonly(sqlite_world.home) as log:
        with pytest.raises(BadInput, match="there is no execution 'x': h holds none"):
            await found_by("x", log, Path("h"))
        await _kept(sqlite_world, [execution(f"run-{number:03}", ExecutionPhase.FAILED) for number in range(30)])
        for wrong, answer in (
            ("run-02", "did you mean run-020 or run-021 or run-022 or .* or run-029\\?$"),
            ("rum-007", "did you mean run-007 or "),
            ("q", "in h; the newest are run-029, run-028, .*, run-020 and 20 more$"),
        ):
            with pytest.raises(BadInput, match=answer):
                await found_by(wrong, log, Path("h"))


async def test_steps_through_the_index_only(sqlite_world: SqliteWorld) -> None:
    await _kept(sqlite_world, [_at(project, domain, f"n{k}") for project, domain in PLACES for k in range(50)])
    async with SqliteLog.open_readonly(sqlite_world.home) as log:
        steps = await to_thread.run_sync(_steps, log._connection)
    assert len(steps) == len(PLACES) + 1
    assert all("USING COVERING INDEX" in step for step in steps)


def _steps(connection: sqlite3.Connection) -> list[str]:
    """What SQLite does for each statement that a look for a name asks."""
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    assert len(keys_of(connection, "n7")) == len(PLACES)
    connection.set_trace_callback(None)
    plans = [connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall() for statement in asked]
    return [step[3] for plan in plans for step in plan]


def test_no_command_reads_all_executions_to_find_some() -> None:
    folder = Path(engine.cli.__file__).parent
    readers = {file.name for file in folder.glob("*.py") if re.search(r"\.executions\(\)", file.read_text())}
    assert readers == set()
