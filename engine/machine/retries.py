"""One more attempt of a failed node, asked for by a person while its execution is still running.

That is so where the failure policy lets the other nodes go on. What was skipped because of the failure waits again. Of
a map the elements that have succeeded are taken over, as a recovery does it, unless the person wants all of them anew.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from engine.machine.draft import Draft
from engine.machine.execution import ExecutionState, Frame, Step, past
from engine.machine.frames import settle, try_start
from engine.machine.handler import Move
from engine.model.errors import Failure
from engine.model.events import NodeRetryRequested
from engine.model.ids import join, split
from engine.model.phases import ExecutionPhase, NodePhase

_FAILED = (NodePhase.FAILED, NodePhase.TIMED_OUT)


def again(draft: Draft, event: NodeRetryRequested) -> Step:
    """Try the node again, with the next attempt number; refused, with the reason, where that is too late."""
    draft.refusal = why_not(draft.state, event.path)
    if draft.refusal:
        return draft.step()
    prefix, node_id = split(event.path)
    frame = draft.frame(prefix)
    failed, skipped = draft.node(event.path), [*_skipped(draft.state, frame, node_id)]
    draft.reopen(event.path, failed.attempt + 1, None if event.all_elements else failed.elements)
    for path in skipped:
        draft.reopen(path, draft.node(path).attempt)
    _forget(draft, frame)
    try_start(draft, prefix, node_id)
    settle(draft)
    return draft.step()


def why_not(state: ExecutionState, path: str) -> str:
    """Why a node can't be tried again; "" = it can."""
    record, node = state.record, state.nodes.get(path)
    if record.phase is not ExecutionPhase.RUNNING:
        advice = "recover it instead" if record.terminal else "recover it when it has ended"
        return f"execution {record.id.name} is {record.phase.value}: no node of it can be tried again; {advice}"
    if node is None or node.phase not in _FAILED or past(state, path):
        is_now = f"node {path} is {node.phase.name}" if node else f"no node {path} has been started"
        return f"{is_now}; only a node that has failed can be tried again: {_listed(state)}"
    prefix, node_id = split(path)
    frame = state.frame(prefix)
    if frame.owner is not None and not state.nodes[frame.owner].open:
        outer = state.nodes[frame.owner]
        return f"node {outer.path}, which contains {path}, is {outer.phase.name}: its graph goes on no more"
    decided = [found for found in _skipped(state, frame, node_id) if state.nodes[found].framed]
    if decided:
        return f"node {decided[0]} was decided already, and then skipped because {path} had failed"
    return ""


def _listed(state: ExecutionState) -> str:
    found = (path for path, node in state.nodes.items() if node.phase in _FAILED and not past(state, path))
    failed = [path for path in found if not why_not(state, path)]
    return f"{', '.join(failed[:10])} {'has' if len(failed) == 1 else 'have'}" if failed else "none has"


def _skipped(state: ExecutionState, frame: Frame, node_id: str) -> Iterator[str]:
    """Paths of the nodes behind this one that were skipped, near ones first."""
    left, seen = [node_id], {node_id}
    for current in left:
        for behind in frame.graph.downstream.get(current, ()):
            path = join(frame.prefix, behind)
            node = state.nodes.get(path)
            if behind not in seen and node is not None and node.phase is NodePhase.SKIPPED:
                seen.add(behind)
                left.append(behind)
                yield path


def _forget(draft: Draft, frame: Frame) -> None:
    """The failure that is left of the frame, first in time, is the one that counts from now on."""
    nodes = [draft.find(join(frame.prefix, node_id)) for node_id in frame.graph.nodes]
    failed = [node for node in nodes if node is not None and node.phase in _FAILED]
    first = min(failed, key=lambda node: node.ended_at, default=None)
    error: Failure | None = first.error.at(first.path) if first is not None and first.error is not None else None
    if frame.owner is None:
        draft.record = structs.replace(draft.record, error=error)
    else:
        draft.accept(frame.owner, Move((structs.replace(draft.node(frame.owner), error=error),)))
