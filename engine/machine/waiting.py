"""What every node that does not move is waiting for: told from stored states alone, in every phase."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from engine.machine.arrays import count
from engine.machine.execution import ExecutionState, open_frames, startable
from engine.machine.readiness import Readiness, readiness
from engine.model.graph import END_NODE, GateKind, GateSpec, NodeKind
from engine.model.ids import inner_frame, join, split
from engine.model.phases import TERMINAL, NodePhase
from engine.model.state import Elements, Node

_INPUTS = "its inputs to be resolved"
_NAMED = 3
"""Nodes that a line names."""


class Wait(Struct, frozen=True):
    """One node, and what has to happen before it goes on."""

    path: str
    what: str
    """For people, as what follows "waits for"."""
    until: float = 0.0
    """When that happens by itself; 0 = no such time."""
    patience: bool = False
    """It does not happen by itself: at `until` the wait is given up."""
    gate: GateSpec | None = None
    """The signal that it waits for."""


def waiting(state: ExecutionState, notes: Mapping[str, str] = {}) -> Iterator[Wait]:
    """One line for every live node, then one for every node that may still be started.

    `notes`: path -> what its runner says that a queued task waits for.
    """
    if state.record.terminal:
        return
    for path in state.live:
        yield _live(state, state.nodes[path], notes.get(path, ""))
    for prefix in open_frames(state):
        for node_id in startable(state, prefix):
            path = join(prefix, node_id)
            node = state.nodes.get(path)
            if node is None or node.phase is NodePhase.NOT_YET_STARTED:
                yield Wait(path, _not_started(state, prefix, node_id))


def queued_tasks(state: ExecutionState, told: Mapping[str, str]) -> dict[str, str]:
    """Path -> what it waits for, where whoever may hold up a task has told of all that they do hold up."""
    queued = (node for path in state.live if (node := state.nodes[path]).phase is NodePhase.QUEUED)
    return {it.path: told.get(it.path, _INPUTS) for it in queued if it.kind is NodeKind.TASK}


def _not_started(state: ExecutionState, prefix: str, node_id: str) -> str:
    frame = state.frame(prefix)

    def phase_of(upstream: str) -> NodePhase:
        node = state.nodes.get(join(frame.scope, upstream))
        return node.phase if node else NodePhase.NOT_YET_STARTED

    spec = frame.spec(node_id)
    if readiness(spec, phase_of) is not Readiness.WAIT:
        return f"a free place: {state.busy} of this execution's nodes run, as many as max_parallelism allows"
    left = [upstream for upstream in spec.upstream if phase_of(upstream) not in TERMINAL]
    # What runs says more than what waits itself.
    left.sort(key=lambda upstream: phase_of(upstream) is NodePhase.NOT_YET_STARTED)
    return _listed([join(frame.scope, upstream) for upstream in left], state)


def _listed(paths: Sequence[str], state: ExecutionState) -> str:
    named = [f"{path} ({_phase(state, path)})" for path in paths[:_NAMED]]
    more = len(paths) - len(named)
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def _phase(state: ExecutionState, path: str) -> str:
    node = state.nodes.get(path)
    return (node.phase if node else NodePhase.NOT_YET_STARTED).name


def _live(state: ExecutionState, node: Node, note: str) -> Wait:
    match node.phase:
        case NodePhase.ABORTING:
            return Wait(node.path, _closing(state, node, "to be stopped"))
        case NodePhase.FAILING | NodePhase.TIMING_OUT:
            return Wait(node.path, _closing(state, node, "to be stopped, since it has failed"))
        case NodePhase.SUCCEEDING:
            what = "its outputs to be gathered" if node.elements is not None else "its result to be cached"
            return Wait(node.path, what)
    if node.kind is NodeKind.GATE:
        return _gate(state, node)
    if node.phase is NodePhase.RETRYABLE_FAILURE:
        if not node.wake_at:
            return Wait(node.path, _closing(state, node, "to be stopped, before its next attempt"))
        return Wait(node.path, f"its next attempt, number {node.attempt + 2}", node.wake_at)
    if node.phase is NodePhase.QUEUED:
        return Wait(node.path, note or _queued(state, node))
    if node.elements is not None:
        return Wait(node.path, _elements(node.elements, node.kind))
    return Wait(node.path, _running(state, node), node.wake_at, patience=bool(node.wake_at))


def _queued(state: ExecutionState, node: Node) -> str:
    match node.kind:
        case NodeKind.TASK:
            cache = state.spec(node.path).cache
            if cache is not None and cache.serialize:
                return "an equal attempt to end (cache_serialize), or its inputs and a free slot of the engine"
            return "its inputs, then a free slot of the engine (processes.max_concurrent)"
        case NodeKind.LAUNCH_PLAN:
            return "its child execution to be submitted"
        case NodeKind.END:
            return "the outputs to be written"
        case NodeKind.BRANCH:
            return "its condition to be decided"
        case _:
            return _INPUTS


def _running(state: ExecutionState, node: Node) -> str:
    if node.open:
        return _inside(state, node)
    match node.kind:
        case NodeKind.LAUNCH_PLAN:
            return "its child execution to end"
        case _:
            return "its task to end"


def _gate(state: ExecutionState, node: Node) -> Wait:
    gate = state.spec(node.path).gate
    assert gate is not None
    if gate.kind is GateKind.SLEEP:
        return Wait(node.path, "the end of its sleep", node.wake_at)
    if gate.signal_id in state.record.signals:
        return Wait(node.path, f"the signal {gate.signal_id!r}, which has come, to be taken")
    what = "the signal" if gate.kind is GateKind.SIGNAL else "the approval"
    return Wait(node.path, f"{what} {gate.signal_id!r}", node.wake_at, bool(node.wake_at), gate)


def _elements(elements: Elements, kind: NodeKind) -> str:
    """`3 of 1,000 elements: 12 running, 985 not started`."""
    left = elements.size - elements.succeeded - elements.failed
    running, again = count(elements, NodePhase.RUNNING), len(elements.waiting)
    queued, fresh = elements.live - running - again, elements.size - elements.next
    parts = [(running, "running"), (queued, "queued"), (again, "to be tried again"), (fresh, "not started")]
    named = ", ".join(f"{number:,} {what}" for number, what in parts if number)
    what = "child executions" if kind is NodeKind.ARRAY_OF_LAUNCH_PLANS else "elements"
    return f"{left:,} of {elements.size:,} {what}" + (f": {named}" if named else "")


def _inside(state: ExecutionState, node: Node) -> str:
    """The nodes that hold up the graph that it executes."""
    prefix = inner_frame(node.path, node.attempt)
    inside = [path for path in state.live if split(path)[0] == prefix]
    last = join(prefix, node.choice or END_NODE)
    return _listed(inside, state) if inside else f"{last} (NOT_YET_STARTED)"


def _closing(state: ExecutionState, node: Node, what: str) -> str:
    if node.elements is not None and node.elements.live:
        return f"{node.elements.live:,} elements {what}"
    prefix = inner_frame(node.path, node.attempt)
    inside = [path for path in state.live if path.startswith(f"{prefix}/")]
    if inside and inside[0] == state.frame(prefix).cleanup:
        return f"its failure node {_listed(inside[:1], state)}"
    if inside:
        return f"{_listed(inside, state)} {what}"
    return f"what it runs {what}"
