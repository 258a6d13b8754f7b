"""Sub-workflow nodes: a frame of their own inside the same execution.

The machine opens the frame when the node runs, and tells the node how the frame ended.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from engine.data.nodes import resolve_and_store
from engine.machine.handler import AbortNode, Consequence, Context, FrameClosed, FrameFailed, FrameSucceeded, Move
from engine.model.effects import Effect, ResolveInputs, StopAttempt
from engine.model.events import AboutAttempt, AttemptFailed, AttemptStopped, Event, NodeEvent, NodePrepared
from engine.model.graph import NodeKind
from engine.model.phases import NodePhase
from engine.model.state import Node
from engine.ports.services import Services


class SubworkflowHandler:
    kind = NodeKind.SUBWORKFLOW
    performs: tuple[type[Effect], ...] = (ResolveInputs,)

    def begin(self, node: Node, ctx: Context) -> Move:
        if not ctx.spec.bindings:
            return Move((_running(structs.replace(node, queued_at=ctx.now), ctx, ""),))
        queued = structs.replace(node, phase=NodePhase.QUEUED, queued_at=ctx.now)
        return Move((queued,), (ResolveInputs(ctx.key(queued), ctx.spec.bindings, ctx.sources),))

    def on_event(self, node: Node, event: NodeEvent | Consequence, ctx: Context) -> Move | None:
        if not isinstance(event, AboutAttempt):
            return self._consequence(node, event, ctx)
        if event.key != ctx.key(node):
            return None
        match event, node.phase:
            case NodePrepared(inputs_uri=uri), NodePhase.QUEUED:
                return Move((_running(node, ctx, uri),))
            case AttemptFailed(failure=failure), NodePhase.QUEUED:
                return Move((_ended(node, NodePhase.FAILED, ctx, error=failure.at(node.path)),))
            case AttemptStopped(), NodePhase.ABORTING if not node.framed:
                return Move((_ended(node, NodePhase.ABORTED, ctx),))
        return None

    def _consequence(self, node: Node, event: Consequence, ctx: Context) -> Move | None:
        match event, node.phase:
            case FrameSucceeded(outputs_uri=uri), NodePhase.RUNNING:
                return Move((_ended(node, NodePhase.SUCCEEDED, ctx, outputs_uri=uri),))
            case FrameFailed(failure=failure), NodePhase.RUNNING:
                return Move((structs.replace(node, phase=NodePhase.FAILING, error=failure),))
            case FrameClosed(), NodePhase.FAILING:
                return Move((_ended(node, NodePhase.FAILED, ctx),))
            case FrameClosed(), NodePhase.ABORTING if node.framed:
                return Move((_ended(node, NodePhase.ABORTED, ctx),))
            case AbortNode(), NodePhase.QUEUED:
                return Move((structs.replace(node, phase=NodePhase.ABORTING),), (StopAttempt(ctx.key(node)),))
            case AbortNode(), (NodePhase.RUNNING | NodePhase.FAILING):
                return Move((structs.replace(node, phase=NodePhase.ABORTING),))
        return None

    def pending(self, node: Node, ctx: Context) -> Sequence[Effect]:
        match node.phase:
            case NodePhase.QUEUED:
                return (ResolveInputs(ctx.key(node), ctx.spec.bindings, ctx.sources),)
            case NodePhase.ABORTING if not node.framed:
                return (StopAttempt(ctx.key(node)),)
        return ()

    async def perform(self, effect: Effect, services: Services) -> Sequence[Event]:
        assert isinstance(effect, ResolveInputs)
        uri = await resolve_and_store(services.blobs, effect.key, effect.bindings, effect.sources)
        return (NodePrepared(effect.key, uri),)


def _running(node: Node, ctx: Context, inputs_uri: str) -> Node:
    return structs.replace(
        node, phase=NodePhase.RUNNING, inputs_uri=inputs_uri, started_at=ctx.now, attempt_started_at=ctx.now
    )


def _ended(node: Node, phase: NodePhase, ctx: Context, **changes: object) -> Node:
    return structs.replace(node, phase=phase, ended_at=ctx.now, **changes)
