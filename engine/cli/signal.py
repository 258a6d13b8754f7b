"""`propwash signal`: answers the gates of an execution that wait for a value or an approval, or will."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from config.settings import Settings
from engine.cli.answers import typed
from engine.cli.documents import Documents
from engine.cli.exitcodes import ExitCode
from engine.cli.naming import named
from engine.cli.request import load_settings
from engine.cli.screen import say_soon
from engine.cli.session import Session, run_session
from engine.homes import read_home
from engine.machine.execution import ExecutionState
from engine.machine.signals import declared, taken
from engine.model.errors import BadInput
from engine.model.graph import GateKind, GateSpec
from engine.model.ids import ExecutionId
from engine.reach import reach
from engine.wire.signals import typed_signal


def signal(
    name: str,
    signal_id: str,
    value: str | bool,
    home: Path,
    config: Path | None,
    sets: Sequence[str],
) -> int:
    """`value`: text that a person typed, or whether it is an approval.

    Raises BadInput where nothing in the execution can take it; and whatever stops the engine.
    """
    return run_session(partial(_signal, name, signal_id, value, home, load_settings(config, sets)))


async def _signal(
    name: str, signal_id: str, value: str | bool, home: Path, settings: Settings, session: Session
) -> int:
    session.deadline_seconds = settings.shutdown.deadline_seconds
    execution, literal = await _asked(name, signal_id, value, home)
    async with reach(home, settings, idle=True) as contact:
        await contact.signal(execution, signal_id, literal)
    await say_soon(f"signal {signal_id!r} of execution {execution.name} is set")
    return ExitCode.SUCCEEDED


async def _asked(name: str, signal_id: str, value: str | bool, home: Path) -> tuple[ExecutionId, bytes]:
    async with read_home(home) as view:
        execution = named(name, await view.log.executions(), home)
        documents = Documents(view.log, view.blobs, home)
        state = await documents.state(await documents.snapshot(execution))
    if state.record.terminal:
        raise BadInput(f"execution {execution.name} has {state.record.phase.value} already; no gate of it waits")
    gates = [gate for gate in declared(state) if gate.signal_id == signal_id]
    if not gates:
        raise BadInput(f"execution {execution.name} has no gate of the id {signal_id!r}; {_listed(state)}")
    literal = _fitting(gates, value)
    if taken(state, signal_id):
        raise BadInput(f"signal {signal_id!r} of execution {execution.name} is set already and counts; nothing changes")
    return execution, literal


def _fitting(gates: Sequence[GateSpec], value: str | bool) -> bytes:
    """The value for the first gate that can take it. Raises BadInput with what the first one says against it."""
    problems = []
    for gate in gates:
        try:
            return _literal(gate, value)
        except BadInput as problem:
            problems.append(problem)
    raise problems[0]


def _literal(gate: GateSpec, value: str | bool) -> bytes:
    if isinstance(value, str) and gate.kind is GateKind.APPROVE:
        raise BadInput(f"{typed(gate)} takes no value; give --approve or --reject")
    if isinstance(value, bool) and gate.kind is not GateKind.APPROVE:
        raise BadInput(f"{typed(gate)} is no approval; give its value")
    return typed_signal(gate, value)


def _listed(state: ExecutionState) -> str:
    names = list(dict.fromkeys(_names(state)))
    return f"there are {', '.join(names)}" if names else "it has none that is known by now"


def _names(state: ExecutionState) -> Iterator[str]:
    for gate in declared(state):
        yield typed(gate)
