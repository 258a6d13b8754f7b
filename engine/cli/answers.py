"""Gates, as people read them: what is asked of them, and the command that answers."""

from __future__ import annotations

import shlex
from pathlib import Path

from engine.gateway.waits import typed
from engine.machine.execution import ExecutionState
from engine.machine.signals import awaits
from engine.model.graph import GateKind, GateSpec


def answer_command(execution: str, gate: GateSpec, home: Path) -> str:
    """What a person types."""
    answer = "VALUE" if gate.kind is GateKind.SIGNAL else "--approve|--reject"
    return f"{shlex.join(['propwash', 'signal', execution, gate.signal_id])} {answer} --home {shlex.quote(str(home))}"


def question(state: ExecutionState, path: str, home: Path) -> str:
    """What a gate waits for and how to answer; "" for any other node, and for a gate that has its answer."""
    gate = awaits(state, path)
    if gate is None:
        return ""
    return f"waits for {typed(gate)}: {answer_command(state.record.id.name, gate, home)}"
