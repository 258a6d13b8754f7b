"""What sub-workflow, branch and @dynamic nodes have in common: a graph of their own, tried again as a whole.

The machine opens the frame when the node is open, stops what is left in it when it is no longer, and tells the node.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from engine.machine.budget import TIMEOUT, Retry
from engine.machine.handler import (
    AbortNode,
    Consequence,
    Context,
    FrameClosed,
    FrameFailed,
    FrameSkipped,
    FrameSucceeded,
    Move,
)
from engine.machine.retrying import Queue, due, next_attempt, when_closed, whole
from engine.model.effects import Effect, StopAttempt
from engine.model.errors import ErrorKind, Failure
from engine.model.events import AttemptFailed, AttemptStopped, NodeEvent, TimerFired
from engine.model.phases import NodePhase
from engine.model.state import Node


def running(node: Node, ctx: Context, phase: NodePhase = NodePhase.RUNNING, **changes: object) -> Node:
    """The attempt runs from now on; its timeout, if it has one, counts from its start."""
    begun = node.attempt_started_at or ctx.now
    return structs.replace(
        node,
        phase=phase,
        started_at=node.started_at or ctx.now,
        attempt_started_at=begun,
        wake_at=begun + ctx.spec.timeout_seconds if ctx.spec.timeout_seconds else 0.0,
        **changes,
    )


def ended(node: Node, phase: NodePhase, ctx: Context, **changes: object) -> Node:
    return structs.replace(node, phase=phase, ended_at=ctx.now, wake_at=0.0, **changes)


def on_graph(node: Node, event: NodeEvent | Consequence, ctx: Context, queue: Queue) -> Move | None:
    """The same for a node that prepares its graph by an effect: also what becomes of it before it has a frame."""
    match event, node.phase:
        case AttemptFailed(failure=failure), NodePhase.QUEUED:
            return Move((ended(node, NodePhase.FAILED, ctx, error=failure.at(node.path)),))
        case AbortNode(), NodePhase.QUEUED:
            return Move((structs.replace(node, phase=NodePhase.ABORTING),), (StopAttempt(ctx.key(node)),))
        case AttemptStopped(), NodePhase.ABORTING if not node.framed:
            return Move((ended(node, NodePhase.ABORTED, ctx),))
    return on_frame(node, event, ctx, queue)


def pending(node: Node, ctx: Context, prepare: Effect) -> Sequence[Effect]:
    """What is due after a restart for such a node."""
    match node.phase:
        case NodePhase.QUEUED:
            return (prepare,)
        case NodePhase.ABORTING if not node.framed:
            return (StopAttempt(ctx.key(node)),)
    return ()


def on_frame(node: Node, event: NodeEvent | Consequence, ctx: Context, queue: Queue) -> Move | None:
    """What becomes of a node that has a frame; None: nothing, or the event is not about that."""
    if not node.framed:
        return None
    if due(node, event):
        return queue(next_attempt(node), ctx)
    match event, node.phase:
        case FrameSucceeded(outputs_uri=uri), _ if node.open:
            return Move((ended(node, NodePhase.SUCCEEDED, ctx, outputs_uri=uri),))
        case FrameSkipped(), _ if node.open:
            return Move((ended(node, NodePhase.SKIPPED, ctx),))
        case FrameFailed(failure=failure), _ if node.open:
            return Move((failing(node, failure, ctx),))
        case TimerFired(), _ if node.open:
            return Move((failing(node, node.error or expired(node, ctx), ctx),))
        case AbortNode(), (NodePhase.FAILING | NodePhase.RETRYABLE_FAILURE):
            return Move((structs.replace(node, phase=NodePhase.ABORTING, wake_at=0.0),))
        case AbortNode(), _ if node.open:
            return Move((structs.replace(node, phase=NodePhase.ABORTING, wake_at=0.0),))
        case FrameClosed(), NodePhase.FAILING:
            return Move((ended(node, NodePhase.FAILED, ctx),))
        case FrameClosed(), NodePhase.ABORTING:
            return Move((ended(node, NodePhase.ABORTED, ctx),))
        case FrameClosed(), NodePhase.RETRYABLE_FAILURE:
            return when_closed(node, ctx, queue)
    return None


def failing(node: Node, failure: Failure, ctx: Context) -> Node:
    """The attempt has failed: what is left of it is stopped first, whatever follows."""
    decision = whole(node, failure, ctx)
    if isinstance(decision, Retry):
        return structs.replace(node, phase=NodePhase.RETRYABLE_FAILURE, error=failure, wake_at=0.0)
    return structs.replace(node, phase=NodePhase.FAILING, error=decision.failure, wake_at=0.0)


def expired(node: Node, ctx: Context) -> Failure:
    message = f"{ctx.spec.kind.value} execution timeout [{ctx.spec.timeout_seconds:g} s] expired"
    return Failure(TIMEOUT, ErrorKind.USER, message, node.path)
