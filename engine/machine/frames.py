"""What follows when a node ends: its frame goes on, completes or fails, and so does the node or execution that owns it.

Failure policies are each workflow's own (FlytePropeller takes the root's); the error is the first
failure in time.
"""

from __future__ import annotations

from msgspec import structs

from engine.machine import cleanups
from engine.machine.draft import Draft
from engine.machine.execution import Frame
from engine.machine.handler import AbortNode, Consequence, FrameClosed, FrameFailed, FrameSkipped, FrameSucceeded, Move
from engine.machine.places import full, too_deep
from engine.machine.readiness import Readiness, ended, readiness
from engine.machine.recovery import taken_over
from engine.model.errors import ErrorKind, Failure, shorten
from engine.model.events import ChildEnded
from engine.model.graph import END_NODE, START_NODE, FailurePolicy, NodeKind, NodeSpec
from engine.model.ids import ROOT_FRAME, inner_frame, join, split
from engine.model.phases import EXECUTION_CLOSING, ExecutionPhase, NodePhase
from engine.model.state import Node

AUTO_ABORT = "Some node execution failed, auto-abort."
WIDE = 16
"""Upstream nodes from which on it pays to remember how many have ended."""


def settle(draft: Draft) -> None:
    """Draw every consequence of the nodes that have ended, until nothing more follows."""
    while draft.ended or _start_held(draft):
        if draft.ended:
            _after(draft, draft.ended.popleft())


def _start_held(draft: Draft) -> bool:
    """Give a place that has come free to the first that waits for one; whether there was one to give and to get it."""
    if not draft.holds or full(draft, NodeKind.TASK):
        return False
    try_start(draft, *split(draft.next_held()))
    return True


def open_frame(draft: Draft, prefix: str) -> None:
    """Start a graph at its start-node."""
    try_start(draft, prefix, START_NODE)


def try_start(draft: Draft, prefix: str, node_id: str) -> None:
    """Start (or skip) a node if its predecessors allow it; does nothing if it has been started already.

    What ended may also be what the chosen arm of a running branch still waits for.
    """
    while (node := draft.find(path := join(prefix, node_id))) is not None and node.choice and node.open:
        prefix, node_id = inner_frame(path, node.attempt), node.choice
    if node is not None and node.phase is not NodePhase.NOT_YET_STARTED:
        return
    frame = draft.frame(prefix)
    if _closing(draft, frame):
        return
    spec = frame.spec(node_id)
    match _readiness(draft, frame, path, spec):
        case Readiness.READY if full(draft, spec.kind):
            draft.held.append(path)
        case Readiness.READY:
            begin(draft, path)
        case Readiness.SKIP:
            _skip(draft, path)


def _readiness(draft: Draft, frame: Frame, path: str, spec: NodeSpec) -> Readiness:
    def phase_of(upstream: str) -> NodePhase:
        return draft.phase(join(frame.scope, upstream))

    if len(spec.upstream) >= WIDE:
        passed = draft.state.passed
        passed[path] = ended(spec, phase_of, passed.get(path, 0))
        if passed[path] < len(spec.upstream):
            return Readiness.WAIT
    return readiness(spec, phase_of)


def begin(draft: Draft, path: str) -> None:
    node, context = draft.node(path), draft.context(path)
    refusal = too_deep(draft.record, context.spec, path, draft.rules.executions.max_nesting)
    if refusal is not None:
        failing = structs.replace(node, phase=NodePhase.FAILING, error=refusal.at(path))
        move = Move((failing, structs.replace(failing, phase=NodePhase.FAILED, ended_at=draft.now)))
    elif states := taken_over(node, context.earlier, draft.state.plans, draft.now, context.spec.timeout_seconds):
        move = Move(states)
    else:
        move = draft.handler(node.kind).begin(node, context)
    take(draft, path, move)


def _skip(draft: Draft, path: str) -> None:
    draft.accept(path, Move((structs.replace(draft.node(path), phase=NodePhase.SKIPPED, ended_at=draft.now),)))


def tell(draft: Draft, path: str, consequence: Consequence) -> None:
    """Hand a consequence to a live node's handler."""
    node = draft.node(path)
    move = draft.handler(node.kind).on_event(node, consequence, draft.context(path))
    if move is not None:
        take(draft, path, move)


def take(draft: Draft, path: str, move: Move) -> None:
    """Accept a handler's move; a node whose attempt executes a graph from now on gets its frame opened."""
    before, after = draft.accept(path, move)
    if after.open and not (before.open and before.attempt == after.attempt):
        _open_inner(draft, after)


def moved(draft: Draft, path: str, move: Move) -> None:
    """An event moved a node; where it ends its own graph before its time, what is left of that is stopped."""
    before = draft.node(path)
    take(draft, path, move)
    if before.open and (after := draft.node(path)).live and not after.open:
        prefix = inner_frame(path, before.attempt)
        abort_live(draft, prefix, AUTO_ABORT)
        _finish_closing(draft, draft.frame(prefix))


def _open_inner(draft: Draft, node: Node) -> None:
    """A graph starts at its start-node, a branch at the arm that was chosen: the others are skipped."""
    prefix = inner_frame(node.path, node.attempt)
    if not node.choice:
        open_frame(draft, prefix)
        return
    for arm in draft.frame(prefix).graph.nodes:
        if arm != node.choice:
            _skip(draft, join(prefix, arm))
    try_start(draft, prefix, node.choice)


def _after(draft: Draft, path: str) -> None:
    prefix, node_id = split(path)
    frame, node = draft.frame(prefix), draft.node(path)
    last = node_id == _last(draft, frame)
    match node.phase:
        case NodePhase.SUCCEEDED | NodePhase.RECOVERED if last:
            _succeed(draft, frame, node.outputs_uri)
        case NodePhase.SKIPPED if last:
            _skipped(draft, frame)
        case NodePhase.SUCCEEDED | NodePhase.RECOVERED | NodePhase.SKIPPED:
            _try_downstream(draft, frame, node_id)
        case NodePhase.FAILED | NodePhase.TIMED_OUT:
            _fail(draft, frame, path)
    if _closing(draft, frame):
        _finish_closing(draft, frame)


def _last(draft: Draft, frame: Frame) -> str:
    """The node whose end is that of its graph: the end-node, or the arm that a branch has chosen."""
    if frame.scope == frame.prefix or frame.owner is None:
        return END_NODE
    return draft.node(frame.owner).choice


def _skipped(draft: Draft, frame: Frame) -> None:
    """What the frame should have ended with was skipped: something in it, or what a branch's arm waits for, failed."""
    if frame.scope == frame.prefix:
        _close(draft, frame)
    elif frame.owner is not None:
        tell(draft, frame.owner, FrameSkipped())


def _try_downstream(draft: Draft, frame: Frame, node_id: str) -> None:
    for downstream in frame.graph.downstream.get(node_id, ()):
        try_start(draft, frame.prefix, downstream)


def _succeed(draft: Draft, frame: Frame, outputs_uri: str) -> None:
    if frame.owner is not None:
        tell(draft, frame.owner, FrameSucceeded(outputs_uri))
    elif draft.record.phase is ExecutionPhase.RUNNING:
        draft.enter(ExecutionPhase.SUCCEEDED, outputs_uri=outputs_uri, ended_at=draft.now)
        _answer_parent(draft)


def _fail(draft: Draft, frame: Frame, path: str) -> None:
    """A node of the frame failed: remember the first failure, then close the frame or go on, as its policy says."""
    error = draft.node(path).error
    assert error is not None
    _remember(draft, frame, error.at(path))
    node_id = split(path)[1]
    if frame.graph.policy is FailurePolicy.FAIL_IMMEDIATELY or node_id == _last(draft, frame):
        _close(draft, frame)
    else:
        _try_downstream(draft, frame, node_id)


def _remember(draft: Draft, frame: Frame, error: Failure) -> None:
    if frame.owner is None:
        if draft.record.error is None and draft.record.phase is ExecutionPhase.RUNNING:
            draft.record = structs.replace(draft.record, error=error)
    else:
        node = draft.node(frame.owner)
        if node.error is None and node.open:
            draft.accept(frame.owner, Move((structs.replace(node, error=error),)))


def _close(draft: Draft, frame: Frame) -> None:
    """The frame has failed: stop what is live in it."""
    if _closing(draft, frame):
        return
    if frame.owner is None:
        draft.enter(ExecutionPhase.FAILING)
    else:
        error = draft.node(frame.owner).error
        assert error is not None
        tell(draft, frame.owner, FrameFailed(error))
    abort_live(draft, frame.prefix, AUTO_ABORT)


def abort_live(draft: Draft, prefix: str, cause: str) -> None:
    """Tell every live node of a frame, and of the frames inside it, to stop; containers close from the inside out."""
    paths = [path for path in draft.live(prefix) if draft.phase(path) is not NodePhase.ABORTING]
    for path in paths:
        tell(draft, path, AbortNode(cause))
    for path in sorted(paths, key=len, reverse=True):
        node = draft.node(path)
        if node.framed and node.live:
            _finish_closing(draft, draft.frame(inner_frame(path, node.attempt)))


def _closing(draft: Draft, frame: Frame) -> bool:
    if frame.owner is None:
        return draft.record.phase in EXECUTION_CLOSING
    node = draft.node(frame.owner)
    return not node.open or frame.prefix != inner_frame(node.path, node.attempt)


def _finish_closing(draft: Draft, frame: Frame) -> None:
    """Once nothing in a closing frame is live, its clean-up runs, and then its owner ends."""
    if not draft.deserted(frame.prefix):
        return
    if cleanups.due(draft, frame):
        if frame.owner is None:
            draft.enter(ExecutionPhase.HANDLING_FAILURE_NODE)
        begin(draft, frame.cleanup)
    elif frame.owner is None:
        _end_execution(draft, frame)
    elif (node := draft.node(frame.owner)).live:
        if node.error is not None and (error := cleanups.with_own_failure(draft, frame, node.error)) != node.error:
            draft.accept(frame.owner, Move((structs.replace(node, error=error),)))
        tell(draft, frame.owner, FrameClosed())


def _end_execution(draft: Draft, frame: Frame) -> None:
    record = draft.record
    if record.terminal:
        return
    if record.phase is ExecutionPhase.ABORTING:
        draft.enter(ExecutionPhase.ABORTED, ended_at=draft.now)
    else:
        error = record.error and cleanups.with_own_failure(draft, frame, record.error)
        draft.enter(ExecutionPhase.FAILED, ended_at=draft.now, error=error)
    _answer_parent(draft)


def abort_execution(draft: Draft, cause: str) -> None:
    """Stop an execution: every live node is told; it is ABORTED when none is left. No clean-up is run."""
    first = draft.record.error
    before = f" (it was failing: {first.code} at node {first.node}: {first.message})" if first else ""
    error = Failure("Aborted", ErrorKind.USER, shorten(f"{cause}{before}"))
    draft.enter(ExecutionPhase.ABORTING, abort_cause=cause, error=error)
    abort_live(draft, ROOT_FRAME, cause)
    settle(draft)
    _finish_closing(draft, draft.frame(ROOT_FRAME))


def _answer_parent(draft: Draft) -> None:
    record = draft.record
    if record.parent is not None:
        draft.events.append(ChildEnded(record.parent, record.id, record.phase, record.outputs_uri, record.error))
