"""Launch plan nodes: a child execution with a name of its own, started once, finished by its event."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from engine.data.children import submission
from engine.data.resolve import resolve
from engine.machine.children import abort_child, child_id, failure_of
from engine.machine.handler import AbortNode, Consequence, Context, Move
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
)
from engine.model.graph import NodeKind
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Node
from engine.ports.services import Services


class LaunchPlanHandler:
    kind = NodeKind.LAUNCH_PLAN
    performs: tuple[type[Effect], ...] = (StartChild, AbortChild)

    def begin(self, node: Node, ctx: Context) -> Move:
        queued = structs.replace(node, phase=NodePhase.QUEUED, queued_at=ctx.now)
        return Move((queued,), (_start(queued, ctx),))

    def on_event(self, node: Node, event: NodeEvent | Consequence, ctx: Context) -> Move | None:
        if isinstance(event, AbortNode):
            return self._abort(node, ctx)
        if not isinstance(event, AboutAttempt) or event.key != ctx.key(node):
            return None
        match event, node.phase:
            case AttemptStarted(inputs_uri=uri), NodePhase.QUEUED:
                return Move((_running(node, ctx, uri),))
            case ChildEnded(), (NodePhase.QUEUED | NodePhase.RUNNING):
                running = node if node.phase is NodePhase.RUNNING else _running(node, ctx, "")
                return Move((running, _ended(running, event, ctx)))
            case AttemptFailed(failure=failure), NodePhase.QUEUED:
                failed = structs.replace(node, phase=NodePhase.FAILED, error=failure.at(node.path), ended_at=ctx.now)
                return Move((failed,))
            case AttemptStopped(), NodePhase.ABORTING:
                # The start is over, so whatever was submitted precedes this abort in the log.
                return Move((node,), (abort_child(ctx.key(node), ctx.execution),))
            case ChildEnded(), NodePhase.ABORTING:
                return Move((structs.replace(node, phase=NodePhase.ABORTED, ended_at=ctx.now),))
        return None

    def pending(self, node: Node, ctx: Context) -> Sequence[Effect]:
        if node.phase is NodePhase.ABORTING:
            return (abort_child(ctx.key(node), ctx.execution),)
        return (_start(node, ctx),)

    async def perform(self, effect: Effect, services: Services) -> Sequence[Event]:
        if isinstance(effect, AbortChild):
            return (AbortRequested(effect.child, effect.cause, effect.key),)
        assert isinstance(effect, StartChild)
        resolved = await resolve(services.blobs, effect.bindings, effect.sources)
        return await submission(effect, resolved, services)

    def _abort(self, node: Node, ctx: Context) -> Move | None:
        aborting = structs.replace(node, phase=NodePhase.ABORTING)
        match node.phase:
            case NodePhase.QUEUED:
                return Move((aborting,), (StopAttempt(ctx.key(node)),))
            case NodePhase.RUNNING:
                return Move((aborting,), (abort_child(ctx.key(node), ctx.execution),))
        return None


def _start(node: Node, ctx: Context) -> StartChild:
    target = ctx.spec.target
    assert target is not None
    plan = ctx.program.launch_plans[target]
    key = ctx.key(node)
    found = ctx.earlier if ctx.earlier and ctx.earlier.node.started_at and not node.attempt else None
    recovers = child_id(found.key) if found else None
    return StartChild(key, child_id(key), ctx.spec.bindings, ctx.sources, plan, ctx.origin, recovers)


def _running(node: Node, ctx: Context, inputs_uri: str) -> Node:
    return structs.replace(
        node,
        phase=NodePhase.RUNNING,
        inputs_uri=inputs_uri or node.inputs_uri,
        started_at=ctx.now,
        attempt_started_at=ctx.now,
    )


def _ended(node: Node, event: ChildEnded, ctx: Context) -> Node:
    if event.phase is ExecutionPhase.SUCCEEDED:
        return structs.replace(node, phase=NodePhase.SUCCEEDED, outputs_uri=event.outputs_uri, ended_at=ctx.now)
    return structs.replace(node, phase=NodePhase.FAILED, error=failure_of(event), ended_at=ctx.now)
