"""What the nodes of an unfinished execution wait for, and gates in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.gateway.document import iso
from engine.machine.execution import ExecutionState
from engine.machine.waiting import Wait, waiting
from engine.model.graph import END_NODE, START_NODE, GateSpec
from engine.model.ids import split

if TYPE_CHECKING:
    from engine.wire.natural import Json


_BOUNDARY = (START_NODE, END_NODE)
"""No author wrote them: only at work are they worth a line."""


def waits(state: ExecutionState, notes: Mapping[str, str] = {}) -> list[Wait]:
    """One for every node that has not ended and may still do something; none where the program can't be read."""
    if state.record.workflow not in state.program.workflows:
        return []
    try:
        return [
            wait for wait in waiting(state, notes) if wait.path in state.live or split(wait.path)[1] not in _BOUNDARY
        ]
    except KeyError:  # the plan of a @dynamic task can't be read, which is told elsewhere
        return []


def waits_json(state: ExecutionState, notes: Mapping[str, str] = {}) -> list[Json]:
    return [
        {
            "node": wait.path,
            "for": typed(wait.gate) if wait.gate else wait.what,
            "until": iso(wait.until),
            "signal": wait.gate.signal_id if wait.gate else None,
        }
        for wait in waits(state, notes)
    ]


def typed(gate: GateSpec) -> str:
    """`the signal 'how-many' (int)`, `the approval 'sure'`."""
    from engine.wire import signals

    return signals.typed(gate)
