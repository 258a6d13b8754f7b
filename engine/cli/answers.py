"""Gates, as people read them: what is asked of them, and the command that answers."""

from __future__ import annotations

import shlex
from pathlib import Path

from engine.gateway.waits import typed
from engine.machine.execution import ExecutionState
from engine.machine.signals import awaits
from engine.model.graph import GateKind, GateSpec


class Brokers(str):
    """HOST:PORT of Kafka, where gates are answered by its engines."""


Place = Path | Brokers
"""A home, or engines on Kafka."""


def answer_command(execution: str, gate: GateSpec, place: Place) -> str:
    """What a person types."""
    answer = "VALUE" if gate.kind is GateKind.SIGNAL else "--approve|--reject"
    where = f"--{'kafka' if isinstance(place, Brokers) else 'home'} {shlex.quote(str(place))}"
    return f"{shlex.join(['propwash', 'signal', execution, gate.signal_id])} {answer} {where}"


def question(state: ExecutionState, path: str, place: Place) -> str:
    """What a gate waits for and how to answer; "" for any other node, and for a gate that has its answer."""
    gate = awaits(state, path)
    if gate is None:
        return ""
    return f"waits for {typed(gate)}: {answer_command(state.record.id.name, gate, place)}"
