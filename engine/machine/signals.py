"""Signals: values from outside, kept with the execution and shared by all gates of their id, early or late.

Until a gate of its id has begun to wait, a signal may be set again and the last one counts; from then on the first one
counts. A value that its gate can't take is forgotten, and the gate goes on waiting.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from engine.machine.draft import Draft
from engine.machine.execution import ExecutionState, Step, past
from engine.machine.frames import settle, tell
from engine.machine.handler import SignalCame
from engine.model.events import SignalRefused, SignalSet
from engine.model.graph import GateSpec, NodeKind, NodeSpec, every_node
from engine.model.ids import EntityId
from engine.model.phases import EXECUTION_CLOSING, ExecutionPhase, NodePhase
from engine.model.state import Node


def come(draft: Draft, event: SignalSet) -> Step:
    """Keep the signal and tell the gates that wait for it. Stale where a gate has taken one, or nothing will."""
    known = draft.record.signals.get(event.signal_id)
    closing = draft.record.phase in EXECUTION_CLOSING - {ExecutionPhase.HANDLING_FAILURE_NODE}
    if closing or known == event.value_uri or taken(draft.state, event.signal_id):
        return draft.step(stale=True)
    draft.record = structs.replace(draft.record, signals={**draft.record.signals, event.signal_id: event.value_uri})
    for node in list(_gates(draft.state, event.signal_id)):
        if node.phase is NodePhase.RUNNING:
            tell(draft, node.path, SignalCame())
    settle(draft)
    return draft.step()


def refused(draft: Draft, event: SignalRefused) -> None:
    """Forget the value, unless another one has taken its place."""
    if draft.record.signals.get(event.signal_id) != event.value_uri:
        return
    left = {name: uri for name, uri in draft.record.signals.items() if name != event.signal_id}
    draft.record = structs.replace(draft.record, signals=left)
    draft.refusal = f"signal {event.signal_id!r} of {event.execution} was refused: {event.reason}"


def awaits(state: ExecutionState, path: str) -> GateSpec | None:
    """What a gate waits for now; None for any other node, and for a gate that has its answer."""
    node = state.nodes[path]
    gate = state.spec(path).gate if node.kind is NodeKind.GATE and node.phase is NodePhase.RUNNING else None
    return gate if gate and gate.signal_id and gate.signal_id not in state.record.signals else None


def taken(state: ExecutionState, signal_id: str) -> bool:
    """Whether the signal is set for good: a gate of its id has begun."""
    return signal_id in state.record.signals and any(True for _ in _gates(state, signal_id))


def declared(state: ExecutionState) -> Iterator[GateSpec]:
    """The gates that take a signal: those that have begun, then all that the program has for this execution."""
    for path in state.live:
        if (gate := awaits(state, path)) is not None:
            yield gate
    for spec in _reachable(state):
        if spec.gate is not None and spec.gate.signal_id:
            yield spec.gate


def _reachable(state: ExecutionState) -> Iterator[NodeSpec]:
    """Every node of the execution's workflow and of the sub-workflows and plans inside."""
    for program, root in (
        (state.program, state.record.workflow),
        *((plan, plan.root) for plan in state.plans.values()),
    ):
        found, left = set[EntityId](), [root]
        while left:
            graph = program.workflows.get(workflow) if (workflow := left.pop()) else None
            if workflow is None or graph is None or workflow in found:
                continue
            found.add(workflow)
            for spec in every_node(graph):
                yield spec
                if spec.kind is NodeKind.SUBWORKFLOW:
                    left.append(spec.target)


def _gates(state: ExecutionState, signal_id: str) -> Iterator[Node]:
    """Every gate of the signal that has begun."""
    for path, node in state.nodes.items():
        if node.kind is NodeKind.GATE and node.phase is not NodePhase.SKIPPED and not past(state, path):
            gate = state.spec(path).gate
            if gate is not None and gate.signal_id == signal_id:
                yield node
