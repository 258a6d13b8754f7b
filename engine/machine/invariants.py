"""What must hold of every committed state, whatever was killed and when. Pure: from states to a list of problems."""

from __future__ import annotations

from collections.abc import Iterator

from engine.machine.budget import TIMEOUT
from engine.machine.execution import ExecutionState, open_frames, past, startable
from engine.machine.places import COUNTED
from engine.machine.readiness import Readiness, readiness
from engine.machine.replay import Problem
from engine.model.graph import END_NODE
from engine.model.ids import AttemptKey, inner_frame, join, owner, split
from engine.model.phases import SATISFIED, TERMINAL, ExecutionPhase, NodePhase
from engine.model.state import CHUNK, Elements, Execution, Node, Snapshot

_P = NodePhase
_LIVE_ELEMENT = {_P.QUEUED, _P.RUNNING, _P.ABORTING, _P.RETRYABLE_FAILURE}


def of_snapshot(snapshot: Snapshot) -> Iterator[Problem]:
    """What a stored execution and its nodes must agree on."""
    record, nodes = snapshot.execution, {node.path: node for node in snapshot.nodes}
    live = [node for node in snapshot.nodes if node.live]
    if record.terminal:
        for node in live:
            yield Problem(
                f"is {node.phase.name} in an execution that is {record.phase.value}", "no live node", node.path
            )
    elif not live and record.phase is not ExecutionPhase.READY:
        yield Problem(f"is {record.phase.value} and none of its nodes is live", "a live node, or its end")
    if record.terminal != bool(record.ended_at):
        yield Problem(f"is {record.phase.value}, ended at {record.ended_at:g}", "an end exactly where it has ended")
    if record.phase is ExecutionPhase.FAILED and record.error is None:
        yield Problem("has FAILED without an error", "the first failure in time")
    if record.phase is ExecutionPhase.SUCCEEDED:
        yield from _same_outputs("", nodes.get(END_NODE), record.outputs_uri)
    for node in snapshot.nodes:
        yield from _of_node(node, nodes)


def _of_node(node: Node, nodes: dict[str, Node]) -> Iterator[Problem]:
    frame, _ = split(node.path)
    containing = owner(frame)
    if containing is not None:
        outer = nodes.get(containing)
        if outer is None or not _fits(frame, node, outer):
            said = "not there" if outer is None else f"attempt {outer.attempt} {outer.phase.name}"
            expected = "a containing node whose attempt was started, and is live as long as what it contains"
            yield Problem(f"is {node.phase.name} inside {containing}, which is {said}", expected, node.path)
    if node.phase is _P.FAILED and node.error is None:
        yield Problem("has FAILED without an error", "the failure that ended it", node.path)
    if node.framed and node.phase is _P.SUCCEEDED:
        end = nodes.get(join(inner_frame(node.path, node.attempt), node.choice or END_NODE))
        yield from _same_outputs(node.path, end, node.outputs_uri)
    if node.elements is not None:
        yield from _of_elements(node, node.elements)


def _fits(frame: str, node: Node, outer: Node) -> bool:
    """Whether a node may be in a frame that belongs to `outer`: its present one, or one of an earlier attempt."""
    attempt = int(frame[len(outer.path) + 1 :])
    if attempt == outer.attempt:
        return outer.framed and (outer.live or not node.live)
    return attempt < outer.attempt and not node.live


def _same_outputs(path: str, end: Node | None, outputs_uri: str) -> Iterator[Problem]:
    """`end`: the end-node of the graph, or what the branch has chosen."""
    if end is None or end.phase not in SATISFIED:
        name = split(end.path)[1] if end else END_NODE
        yield Problem(f"has SUCCEEDED, its {name} is {end.phase.name if end else 'not there'}", "SUCCEEDED", path)
    elif end.outputs_uri != outputs_uri:
        yield Problem(
            f"its outputs are {outputs_uri!r}", f"those of its {split(end.path)[1]}, {end.outputs_uri!r}", path
        )


def _of_elements(node: Node, elements: Elements) -> Iterator[Problem]:
    """Counters and bytes of a map node's elements."""
    lengths = [len(chunk) for chunk in elements.chunks]
    full, rest = divmod(elements.size, CHUNK)
    if lengths != [2 * CHUNK] * full + [2 * rest] * bool(rest):
        yield Problem(
            f"its elements take chunks of {lengths} bytes", f"two bytes for each of {elements.size}", node.path
        )
        return
    phases = bytes(byte & 15 for chunk in elements.chunks for byte in chunk[::2])
    counts = {phase: phases.count(phase.value) for phase in _P}
    live = sum(counts[phase] for phase in _LIVE_ELEMENT)
    begun = len(phases.rstrip(b"\0"))
    counted = (
        ("succeeded", elements.succeeded, counts[_P.SUCCEEDED]),
        ("failed", elements.failed, counts[_P.FAILED]),
        ("live", elements.live, live),
        ("next", elements.next, begun),
    )
    for name, said, found in counted:
        if said != found:
            yield Problem(f"its elements' counter {name!r} is {said}", f"{found}, as their states say", node.path)
    if 0 in phases[:begun]:
        index = phases.index(0)
        yield Problem("was left out: later elements were started", "first indexes first", f"{node.path}[{index}]")
    if node.terminal and live:
        yield Problem(f"is {node.phase.name} with {live} live elements", "none", node.path)
    if node.phase is _P.SUCCEEDED and begun < elements.size:
        yield Problem(f"has SUCCEEDED after {begun} of {elements.size} elements", "all of them", node.path)


def of_frames(state: ExecutionState) -> Iterator[Problem]:
    """With the program: every node is one of its graph, and nothing that is ready still waits to be started."""
    for path, node in state.nodes.items():
        if past(state, path):
            continue
        try:
            kind = state.spec(path).kind
        except KeyError:
            yield Problem(f"is {node.phase.name}", "no state: its workflow has no such node", path)
            return
        if kind is not node.kind:
            yield Problem(f"is stored as a {node.kind.value} node", f"a {kind.value} node, as its workflow says", path)
    for prefix in open_frames(state):
        yield from _left_waiting(state, prefix)


def _left_waiting(state: ExecutionState, prefix: str) -> Iterator[Problem]:
    def phase_of(path: str) -> NodePhase:
        node = state.nodes.get(path)
        return node.phase if node else _P.NOT_YET_STARTED

    frame = state.frame(prefix)
    for node_id in startable(state, prefix):
        path = join(prefix, node_id)
        if phase_of(path) is not _P.NOT_YET_STARTED or (state.busy and frame.spec(node_id).kind in COUNTED):
            continue  # what waits for a place gets it when one of those that have one ends
        if readiness(frame.spec(node_id), lambda up: phase_of(join(frame.scope, up))) is not Readiness.WAIT:
            yield Problem("was not started, though all it waits for has ended", "started", path)


def _timed_out(node: Node) -> bool:
    """A child may succeed while it is being told that its time is over."""
    return node.error is not None and node.error.code.endswith(TIMEOUT)


def of_child(node: Node, child: Execution | None, *, coming: bool, refused: bool) -> Iterator[Problem]:
    """A launch plan node and the execution it started.

    coming: an event about the child is in the log and not processed yet, so the two may differ. refused: the child's
    submission is among the dead letters.
    """
    said = child.phase.value if child else "not there"
    if child is not None and (child.parent is None or child.parent.path != node.path):
        yield Problem(f"its child execution {child.id.name} has another parent", "this node", node.path)
    if node.phase is _P.SUCCEEDED:
        if child is None or child.phase is not ExecutionPhase.SUCCEEDED:
            yield Problem(f"has SUCCEEDED, its child execution is {said}", "SUCCEEDED", node.path)
        elif child.outputs_uri != node.outputs_uri:
            yield Problem(f"its outputs are {node.outputs_uri!r}", f"its child's, {child.outputs_uri!r}", node.path)
    elif node.phase is _P.RUNNING and not coming:
        if child is None and not refused:
            yield Problem("is RUNNING, its child execution is not there", "a child execution", node.path)
        if child is not None and child.terminal:
            yield Problem(f"is RUNNING, its child execution is {said}", "the child's end, taken over", node.path)
    elif node.phase in TERMINAL and child is not None:
        if not child.terminal:
            yield Problem(f"is {node.phase.name}, its child execution is {said}", "a child that has ended", node.path)
        elif node.phase is _P.FAILED and child.phase is ExecutionPhase.SUCCEEDED and not _timed_out(node):
            yield Problem("has FAILED, its child execution has SUCCEEDED", "the child's end, taken over", node.path)


def of_element_child(key: AttemptKey, phase: NodePhase, child: Execution | None) -> Iterator[Problem]:
    """An element of a map over a launch plan, and the execution that its last attempt has started.

    While the element lives, an event about the child may be on its way.
    """
    said, where = child.phase.value if child else "not there", f"{key.path}[{key.index}]"
    if child is not None and child.parent != key:
        yield Problem(f"its child execution {child.id.name} has another parent", "this element", where)
    if phase is _P.SUCCEEDED and (child is None or child.phase is not ExecutionPhase.SUCCEEDED):
        yield Problem(f"has SUCCEEDED, its child execution is {said}", "SUCCEEDED", where)
    if phase in (_P.FAILED, _P.ABORTED) and child is not None and not child.terminal:
        yield Problem(f"is {phase.name}, its child execution is {said}", "a child that has ended", where)
