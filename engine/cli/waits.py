"""What the nodes of an unfinished execution wait for, as `propwash get` tells it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.cli.answers import Place, answer_command
from engine.cli.report import Table, columns
from engine.cli.wording import duration
from engine.gateway.waits import typed, waits
from engine.machine.execution import ExecutionState
from engine.machine.waiting import Wait

SHOWN = 100
"""Lines that people get; `--json` has all."""


Unfinished = tuple[str, ExecutionState, Mapping[str, str]]
"""A text that precedes the paths of its nodes, an execution, and what the runner says that its nodes wait for."""


def waits_text(states: Iterable[Unfinished], now: float, place: Place) -> str:
    """A line a node, live ones of an execution first; "" where nothing waits."""
    lines = [
        (f"{title}{wait.path}", _line(state, wait, now, place))
        for title, state, notes in states
        for wait in waits(state, notes)
    ]
    if not lines:
        return ""
    more = len(lines) - SHOWN
    table: Table = [("NODE", "WAITS FOR"), *lines[:SHOWN]]
    return columns(table) + (f"\n… and {more} more nodes, which --json lists" if more > 0 else "")


def _line(state: ExecutionState, wait: Wait, now: float, place: Place) -> str:
    what = typed(wait.gate) if wait.gate else wait.what
    if wait.until:
        left = duration(wait.until - now)
        what += f", for {left} at most" if wait.patience else f", in {left}"
    return f"{what}: {answer_command(state.record.id.name, wait.gate, place)}" if wait.gate else what
