"""What somebody answers to the gates of an execution, made into a literal that one of them takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from engine.machine.execution import ExecutionState
from engine.machine.signals import declared, taken
from engine.model.errors import BadInput
from engine.model.graph import GateKind, GateSpec
from engine.wire.signals import read_signal, typed, typed_signal


class Approval(Struct, frozen=True):
    """The answer to an `approve`: whether it passes."""

    passes: bool


def signal_literal(state: ExecutionState, signal_id: str, value: object) -> bytes:
    """As `fitting_literal`. Raises BadInput, too, where the signal is set for good."""
    literal = fitting_literal(state, signal_id, value)
    if taken(state, signal_id):
        raise BadInput(
            f"signal {signal_id!r} of execution {state.record.id.name} is set already and counts; nothing changes"
        )
    return literal


def fitting_literal(state: ExecutionState, signal_id: str, value: object) -> bytes:
    """A serialized `Literal` for the gates of an id.

    `value`: an Approval, a serialized `Literal`, or a JSON value; a plain `str` is text that a person typed.

    Raises BadInput where nothing in the execution can take it.
    """
    name = state.record.id.name
    if state.record.terminal:
        raise BadInput(f"execution {name} has {state.record.phase.value} already; no gate of it waits")
    gates = [gate for gate in declared(state) if gate.signal_id == signal_id]
    if not gates:
        raise BadInput(f"execution {name} has no gate of the id {signal_id!r}; {_listed(state)}")
    return _fitting(gates, value)


def _fitting(gates: Sequence[GateSpec], value: object) -> bytes:
    """The value for the first gate that can take it. Raises BadInput with what the first one says against it."""
    problems = []
    for gate in gates:
        try:
            return _literal(gate, value)
        except BadInput as problem:
            problems.append(problem)
    raise problems[0]


def _literal(gate: GateSpec, value: object) -> bytes:
    approval = isinstance(value, Approval)
    if gate.kind is GateKind.APPROVE and not approval:
        raise BadInput(f"{typed(gate)} takes no value; approve or reject it")
    if gate.kind is not GateKind.APPROVE and approval:
        raise BadInput(f"{typed(gate)} is no approval; give its value")
    if isinstance(value, bytes):
        read_signal(gate, value)
        return value
    return typed_signal(gate, value.passes if isinstance(value, Approval) else value)


def _listed(state: ExecutionState) -> str:
    names = list(dict.fromkeys(_names(state)))
    return f"there are {', '.join(names)}" if names else "it has none that is known by now"


def _names(state: ExecutionState) -> Iterator[str]:
    for gate in declared(state):
        yield typed(gate)
