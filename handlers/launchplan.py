"""Launch plan nodes: a child execution with a name of its own, started once, finished by its event.

Another attempt is another child; it starts when the one before it has ended.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from engine.data.children import submission
from engine.data.resolve import resolve
from engine.machine.budget import Retry
from engine.machine.children import abort_child, child_id, failure_of
from engine.machine.composite import ended, expired, failing, running
from engine.machine.handler import AbortNode, Consequence, Context, Move
from engine.machine.retrying import due, next_attempt, retried, when_closed, whole
from engine.model.effects import AbortChild, Effect, StartChild, StopAttempt
from engine.model.events import (
    AbortRequested,
    AboutAttempt,
    AttemptFailed,
    AttemptStarted,
    AttemptStopped,
    ChildEnded,
    Event,
    NodeEvent,
    TimerFired,
)
from engine.model.graph import NodeKind
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Node
from engine.ports.services import Services


class LaunchPlanHandler:
    kind = NodeKind.LAUNCH_PLAN
    performs: tuple[type[Effect], ...] = (StartChild, AbortChild)

    def begin(self, node: Node, ctx: Context) -> Move:
        queued = structs.replace(node, phase=NodePhase.QUEUED, queued_at=node.queued_at or ctx.now)
        return Move((queued,), (_start(queued, ctx),))

    def on_event(self, node: Node, event: NodeEvent | Consequence, ctx: Context) -> Move | None:
        if isinstance(event, AbortNode):
            return _abort(node, ctx)
        if not isinstance(event, AboutAttempt) or event.key != ctx.key(node):
            return None
        if due(node, event):
            return self.begin(next_attempt(node), ctx)
        match event, node.phase:
            case AttemptStarted(inputs_uri=uri), NodePhase.QUEUED:
                return Move((running(node, ctx, inputs_uri=uri),))
            case ChildEnded(), (NodePhase.QUEUED | NodePhase.RUNNING):
                return self._ended(node, event, ctx)
            case AttemptFailed(failure=failure), NodePhase.QUEUED:
                return Move((ended(node, NodePhase.FAILED, ctx, error=failure.at(node.path)),))
            case TimerFired(), NodePhase.RUNNING:
                failed = failing(node, expired(node, ctx), ctx)
                return Move((failed,), (_abort_child(failed, ctx),))
            case ChildEnded(), NodePhase.FAILING:
                return Move((ended(node, NodePhase.FAILED, ctx),))
            case ChildEnded(), NodePhase.RETRYABLE_FAILURE if not node.wake_at:
                return when_closed(node, ctx, self.begin)
            case AttemptStopped(), NodePhase.ABORTING:
                # The start is over, so whatever was submitted precedes this abort in the log.
                return Move((node,), (_abort_child(node, ctx),))
            case ChildEnded(), NodePhase.ABORTING:
                return Move((ended(node, NodePhase.ABORTED, ctx),))
        return None

    def _ended(self, node: Node, event: ChildEnded, ctx: Context) -> Move:
        """Tried again as a whole, if its author asked, but not where somebody has stopped the child."""
        ran = node if node.phase is NodePhase.RUNNING else running(node, ctx)
        if event.phase is ExecutionPhase.SUCCEEDED:
            return Move((ran, ended(ran, NodePhase.SUCCEEDED, ctx, outputs_uri=event.outputs_uri)))
        failure = failure_of(event)
        decision = whole(ran, failure, ctx)
        if isinstance(decision, Retry) and event.phase is not ExecutionPhase.ABORTED:
            move = retried(ran, failure, decision, ctx, self.begin)
            return structs.replace(move, states=(ran, *move.states))
        error = failure if isinstance(decision, Retry) else decision.failure
        return Move((ran, ended(ran, NodePhase.FAILED, ctx, error=error)))

    def pending(self, node: Node, ctx: Context) -> Sequence[Effect]:
        match node.phase:
            case NodePhase.ABORTING | NodePhase.FAILING:
                return (_abort_child(node, ctx),)
            case NodePhase.RETRYABLE_FAILURE:
                return () if node.wake_at else (_abort_child(node, ctx),)
        return (_start(node, ctx),)

    async def perform(self, effect: Effect, services: Services) -> Sequence[Event]:
        if isinstance(effect, AbortChild):
            return (AbortRequested(effect.child, effect.cause, effect.key),)
        assert isinstance(effect, StartChild)
        resolved = await resolve(services.blobs, effect.bindings, effect.sources)
        return await submission(effect, resolved, services)


def _abort(node: Node, ctx: Context) -> Move | None:
    aborting = structs.replace(node, phase=NodePhase.ABORTING, wake_at=0.0)
    match node.phase:
        case NodePhase.QUEUED:
            return Move((aborting,), (StopAttempt(ctx.key(node)),))
        case NodePhase.RUNNING:
            return Move((aborting,), (_abort_child(node, ctx),))
        case NodePhase.RETRYABLE_FAILURE if node.wake_at:
            return Move((aborting, ended(aborting, NodePhase.ABORTED, ctx)))
        case NodePhase.FAILING | NodePhase.RETRYABLE_FAILURE:
            return Move((aborting,))
    return None


def _abort_child(node: Node, ctx: Context) -> AbortChild:
    return abort_child(ctx.key(node), ctx.execution, node.error.message if node.error else "")


def _start(node: Node, ctx: Context) -> StartChild:
    target = ctx.spec.target
    assert target is not None
    plan = ctx.program.launch_plans[target]
    key = ctx.key(node)
    # It may not have come to be: then this one has nothing to take over.
    recovers = child_id(ctx.earlier.key) if ctx.earlier and ctx.earlier.node.queued_at and not node.attempt else None
    return StartChild(key, child_id(key), ctx.spec.bindings, ctx.sources, plan, ctx.origin, recovers)
