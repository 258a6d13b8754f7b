"""Recovery: a new execution takes over what has succeeded in an earlier one that has ended, by the paths of nodes.

A node that succeeded there had all its inputs from nodes that succeeded there too, so its outputs hold here as well.
What failed, was aborted or skipped is decided anew. Of a containing node only the last attempt is looked into; and what
is tried again here starts from nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from engine.machine import arrays
from engine.machine.refit import change
from engine.model.graph import NodeKind, Program
from engine.model.ids import AttemptKey, inner_frame, join
from engine.model.phases import SATISFIED, ExecutionPhase, NodePhase
from engine.model.state import Execution, Node

if TYPE_CHECKING:
    from engine.machine.execution import ExecutionState

_BOUNDARY = (NodeKind.START, NodeKind.END)


class Earlier(Struct, frozen=True):
    """What became of a node in the execution that is recovered."""

    record: Execution
    node: Node
    mended: bool = False
    """The workflow that recovers it is of another package: a @dynamic task plans anew."""

    @property
    def key(self) -> AttemptKey:
        """Of its last attempt."""
        return self.record.key(self.node.path, self.node.attempt)

    def element(self, size: int, index: int) -> tuple[AttemptKey | None, bool]:
        """The last attempt of a map's element, and whether it succeeded. None where the map had another size, or none.

        An element that was not started has no attempt either.
        """
        elements = self.node.elements
        if elements is None or elements.size != size:
            return None, False
        phase = arrays.phase_of(elements, index)
        if phase is NodePhase.NOT_YET_STARTED:
            return None, False
        attempt = arrays.attempt_of(elements, index)
        key = self.record.element_key(self.node.path, self.node.attempt, index, attempt)
        return key, phase is NodePhase.SUCCEEDED


def refusal(source: Execution) -> str:
    """Why an execution can't be recovered; "" = it can."""
    if not source.terminal:
        return f"execution {source.id.name} is {source.phase.value}; only one that has ended can be recovered"
    if source.phase is ExecutionPhase.SUCCEEDED:
        return f"execution {source.id.name} has SUCCEEDED: there is nothing to recover; relaunch runs it once more"
    return ""


def earlier(state: ExecutionState, path: str) -> Earlier | None:
    """The node of this path in the recovered execution, whatever the numbers of its containers' attempts there.

    None for clean-ups (failure nodes) and what is inside them: they belong to the failure that they clean up after. Of
    a mended workflow also None for what is another node now, and for what an earlier plan of a @dynamic task holds.
    """
    source = state.source
    if source is None:
        return None
    mended = source.record.package != state.record.package
    parts, there, here = path.split("/"), "", ""
    for node_id, attempt in zip_longest(parts[::2], parts[1::2]):
        node = source.nodes.get(join(there, node_id))
        if node is None or _is_cleanup(source, there, node_id):
            return None
        if mended and not _fits(state, source, there, here, node):
            return None
        if attempt is None:
            return Earlier(source.record, node, mended)
        if attempt != "0" or not node.framed or (mended and node.plan):
            return None
        there, here = inner_frame(node.path, node.attempt), inner_frame(join(here, node_id), 0)
    return None


def _fits(state: ExecutionState, source: ExecutionState, there: str, here: str, node: Node) -> bool:
    """Found once for each node."""
    if node.path not in state.fits:
        state.fits[node.path] = not change(source, state, there, here, node)
    return state.fits[node.path]


def taken_over(
    node: Node, found: Earlier | None, plans: Mapping[str, Program], now: float, timeout_seconds: float | None
) -> tuple[Node, ...]:
    """The states of a node that is ready and need not run: RECOVERED, or its old plan executed. () = it must run."""
    if found is None or node.attempt or node.kind in _BOUNDARY or found.node.kind is not node.kind:
        return ()
    old = found.node
    if old.phase in SATISFIED:
        changes = {"inputs_uri": old.inputs_uri, "outputs_uri": old.outputs_uri}
        return (structs.replace(node, phase=NodePhase.RECOVERED, ended_at=now, **changes),)
    if old.plan and old.plan in plans and not found.mended:
        queued = structs.replace(node, phase=NodePhase.QUEUED, queued_at=now, inputs_uri=old.inputs_uri)
        running = structs.replace(queued, phase=NodePhase.RUNNING, started_at=now, attempt_started_at=now)
        deadline = now + timeout_seconds if timeout_seconds else 0.0
        planned = structs.replace(running, phase=NodePhase.DYNAMIC_RUNNING, plan=old.plan, wake_at=deadline)
        return (queued, running, planned)
    return ()


def signals(source: ExecutionState) -> dict[str, str]:
    """The signals that hold on: all but those that made a gate fail, which will be asked for again."""
    against = set()
    for path, node in source.nodes.items():
        if node.kind is NodeKind.GATE and node.phase in (NodePhase.FAILED, NodePhase.TIMED_OUT):
            try:
                gate = source.spec(path).gate
            except KeyError:
                continue  # in a frame of an earlier attempt
            against.add(gate.signal_id if gate else "")
    return {name: uri for name, uri in source.record.signals.items() if name not in against}


def _is_cleanup(source: ExecutionState, frame: str, node_id: str) -> bool:
    try:
        failure = source.frame(frame).graph.failure
    except KeyError:
        return True  # its plan can't be read: nothing in there is known
    return failure is not None and failure.id == node_id
