"""What people ask for, checked against what is there before an engine hears of it: for commands and the HTTP API."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from anyio import to_thread
from msgspec import Struct

from engine.gateway.names import random_name
from engine.gateway.waits import typed
from engine.machine.execution import ExecutionState
from engine.machine.recovery import refusal
from engine.machine.signals import declared, taken
from engine.model.errors import BadInput
from engine.model.events import ExecutionSubmitted
from engine.model.graph import GateKind, GateSpec, NodeKind
from engine.model.ids import ExecutionId
from engine.model.overrides import NONE, Overrides
from engine.model.phases import ExecutionPhase
from engine.model.state import Execution
from engine.registry.entries import Registry
from engine.registry.finding import RUNNABLE, find
from engine.registry.running import runnable
from engine.wire.inputs import inputs_for
from engine.wire.signals import typed_signal


class Approval(Struct, frozen=True):
    """The answer to an `approve`: whether it passes."""

    passes: bool


class Wish(Struct, frozen=True):
    """An execution that somebody wants of what is registered."""

    entity: str
    """NAME or NAME:VERSION; the name may be an ending."""
    execution: ExecutionId
    inputs: Mapping[str, object]
    """By name, JSON values; a plain `str` is text that a person typed."""
    overrides: Overrides = NONE
    overwrite_cache: bool = False


async def submission(
    reading: Registry, writing: Registry, wish: Wish, kinds: Collection[NodeKind], prefix: str
) -> tuple[ExecutionSubmitted, bytes]:
    """What an engine accepts. `reading` finds the entity, `writing` may store the workflow of a single task.

    `prefix` stands before the name of an input that is wrong. Raises BadInput with every problem.
    """
    entry = await find(reading, wish.entity, wish.execution.project, wish.execution.domain, RUNNABLE)
    found = await runnable(writing, entry, kinds)
    inputs = await to_thread.run_sync(inputs_for, found.target, wish.inputs, prefix)
    event = ExecutionSubmitted(
        wish.execution,
        found.entity,
        found.package,
        overwrite_cache=wish.overwrite_cache,
        overrides=wish.overrides,
    )
    return event, inputs


def once_more(
    record: Execution, name: str | None, *, recover: bool, overwrite_cache: bool = False
) -> ExecutionSubmitted:
    """A new execution of the same workflow; `recover`: it takes over what succeeded. Raises BadInput where it can't."""
    problem = refusal(record) if recover else ""
    if problem:
        raise BadInput(f"{problem}; nothing was started")
    return ExecutionSubmitted(
        ExecutionId(record.id.project, record.id.domain, name or random_name()),
        record.entity,
        record.package,
        recovers=record.id if recover else None,
        overwrite_cache=overwrite_cache or (recover and record.overwrite_cache),
        overrides=record.overrides,
    )


def refuse_abort(record: Execution) -> None:
    """Raises BadInput where an execution has ended otherwise."""
    if record.terminal and record.phase is not ExecutionPhase.ABORTED:
        raise BadInput(f"execution {record.id.name} has {record.phase.value} already; there is nothing to abort")


def signal_literal(state: ExecutionState, signal_id: str, value: object) -> bytes:
    """A serialized `Literal` for the gates of an id.

    `value`: an Approval, or a JSON value; a plain `str` is text that a person typed.

    Raises BadInput where nothing in the execution can take it.
    """
    name = state.record.id.name
    if state.record.terminal:
        raise BadInput(f"execution {name} has {state.record.phase.value} already; no gate of it waits")
    gates = [gate for gate in declared(state) if gate.signal_id == signal_id]
    if not gates:
        raise BadInput(f"execution {name} has no gate of the id {signal_id!r}; {_listed(state)}")
    literal = _fitting(gates, value)
    if taken(state, signal_id):
        raise BadInput(f"signal {signal_id!r} of execution {name} is set already and counts; nothing changes")
    return literal


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
    return typed_signal(gate, value.passes if isinstance(value, Approval) else value)


def _listed(state: ExecutionState) -> str:
    names = list(dict.fromkeys(_names(state)))
    return f"there are {', '.join(names)}" if names else "it has none that is known by now"


def _names(state: ExecutionState) -> Iterator[str]:
    for gate in declared(state):
        yield typed(gate)
