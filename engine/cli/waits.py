"""What the nodes of an unfinished execution wait for, as `propwash get` tells it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.answers import answer_command, typed
from engine.cli.document import iso
from engine.cli.report import Table, columns
from engine.cli.wording import duration
from engine.machine.execution import ExecutionState
from engine.machine.waiting import Wait, waiting
from engine.model.graph import END_NODE, START_NODE
from engine.model.ids import split

if TYPE_CHECKING:
    from engine.wire.natural import Json

_BOUNDARY = (START_NODE, END_NODE)
"""No author wrote them: only at work are they worth a line."""
SHOWN = 100
"""Lines that people get; `--json` has all."""


def waits(state: ExecutionState) -> list[Wait]:
    """One for every node that has not ended and may still do something; none where the program can't be read."""
    if state.record.workflow not in state.program.workflows:
        return []
    try:
        return [wait for wait in waiting(state) if wait.path in state.live or split(wait.path)[1] not in _BOUNDARY]
    except KeyError:  # the plan of a @dynamic task can't be read, which is told elsewhere
        return []


def waits_text(states: Iterable[tuple[str, ExecutionState]], now: float, home: Path) -> str:
    """A line a node, live ones of an execution first; "" where nothing waits. A text precedes the paths of each."""
    lines = [(f"{title}{wait.path}", _line(state, wait, now, home)) for title, state in states for wait in waits(state)]
    if not lines:
        return ""
    more = len(lines) - SHOWN
    table: Table = [("NODE", "WAITS FOR"), *lines[:SHOWN]]
    return columns(table) + (f"\n… and {more} more nodes, which --json lists" if more > 0 else "")


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
    what = typed(wait.gate) if wait.gate else wait.what
    if wait.until:
        left = duration(wait.until - now)
        what += f", for {left} at most" if wait.patience else f", in {left}"
    return f"{what}: {answer_command(state.record.id.name, wait.gate, home)}" if wait.gate else what
