from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest
from anyio.streams.text import TextReceiveStream

from engine.adapters.sqlite.log import SqliteLog
from engine.model.errors import HomeInUse
from engine.model.state import Snapshot
from engine.ports.eventlog import Record
from tests.contract.log_nouns import execution, fact, node, submitted, succeeded

TURNS = 25


async def killed_after_turns(home: Path) -> tuple[int, int]:
    """Run a writer, kill -9 it, and tell how many appends and commits it was promised."""
    output = ""
    command = [sys.executable, "-m", "tests.service.log_writer", str(home)]
    async with await anyio.open_process(command, stderr=None) as process:
        assert process.stdout is not None
        stream = TextReceiveStream(process.stdout)
        while output.count("committed") < TURNS:
            output += await stream.receive()
        with pytest.raises(HomeInUse, match=f"in use by process {process.pid};"):
            async with SqliteLog.open(home):
                pass
        process.kill()
        async for text in stream:
            output += text
    lines = output.rpartition("\n")[0].splitlines()
    return sum(line.startswith("appended") for line in lines), sum(line.startswith("committed") for line in lines)


@pytest.mark.service
async def test_kill_minus_nine(tmp_path: Path) -> None:
    appended, committed = await killed_after_turns(tmp_path)
    assert committed >= TURNS
    async with SqliteLog.open(tmp_path) as log:
        stored: list[Record] = []
        while page := await log.events(stored[-1].offset if stored else 0):
            stored.extend(page)
        snapshots = [snapshot async for snapshot in log.restore()]
        facts = [await log.history(snapshot.execution.id) for snapshot in snapshots]
    # What was promised is there, perhaps one step more; and each turn as a whole.
    turns = len(snapshots)
    assert turns in (committed, committed + 1)
    names = [f"e{number}" for number in range(turns)]
    assert snapshots == [Snapshot(execution(name), (node("n0"), node("n1"))) for name in names]
    assert facts == [[fact(name, 1), fact(name, 2)] for name in names]
    events = [record.event for record in stored]
    assert events[: 2 * turns] == [event for name in names for event in (submitted(name), succeeded(name))]
    assert events[2 * turns :] in ([], [submitted(f"e{turns}")])
    assert len(events) >= 2 * turns + (appended > turns)
