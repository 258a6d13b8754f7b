"""What the nodes of an unfinished execution wait for, as `propwash get` tells it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.answers import answer_command, typed
from engine.cli.document import iso
from engine.cli.report import Table, columns
from engine.cli.wording import duration
from engine.machine.execution import ExecutionState
from engine.machine.waiting import Wait, waiting

if TYPE_CHECKING:
    from engine.wire.natural import Json

SHOWN = 100
"""Lines that people get; `--json` has all."""


def waits(state: ExecutionState) -> list[Wait]:
    """One for every node that has not ended and may still do something; none where the program can't be read."""
    if state.record.workflow not in state.program.workflows:
        return []
    try:
        return list(waiting(state))
    except KeyError:  # the plan of a @dynamic task can't be read, which is told elsewhere
        return []


def waits_text(state: ExecutionState, now: float, home: Path) -> str:
    """A line a node: live ones first; "" where nothing waits."""
    found = waits(state)
    if not found:
        return ""
    rows: Table = [("NODE", "WAITS FOR"), *((wait.path, _line(state, wait, now, home)) for wait in found[:SHOWN])]
    more = len(found) - SHOWN
    return columns(rows) + (f"\n… and {more} more nodes, which --json lists" if more > 0 else "")


def waits_json(state: ExecutionState) -> list[Json]:
    return [
        {
            "node": wait.path,
            "for": typed(wait.gate) if wait.gate else wait.what,
            "until": iso(wait.until),
            "signal": wait.gate.signal_id if wait.gate else None,
        }
        for wait in waits(state)
    ]


def _line(state: ExecutionState, wait: Wait, now: float, home: Path) -> str:
    left = duration(wait.until - now) if wait.until else ""
    if wait.gate is None:
        return f"{wait.what}, in {left}" if left else wait.what
    patience = f", for {left} at most" if left else ""
    return f"{typed(wait.gate)}{patience}: {answer_command(state.record.id.name, wait.gate, home)}"
