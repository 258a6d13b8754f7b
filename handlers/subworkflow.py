"""Sub-workflow nodes: a frame of their own inside the same execution.

The machine opens the frame when the node runs, and tells the node how the frame ended.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from engine.data.nodes import resolve_and_store
from engine.machine.composite import ended, on_frame, running
from engine.machine.handler import AbortNode, Consequence, Context, Move
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
        ready = structs.replace(node, queued_at=node.queued_at or ctx.now)
        queued = structs.replace(ready, phase=NodePhase.QUEUED)
        if ctx.spec.bindings:
            return Move((queued,), (_resolve(queued, ctx),))
        first = node.phase is NodePhase.NOT_YET_STARTED
        return Move((running(ready, ctx),) if first else (queued, running(queued, ctx)))

    def on_event(self, node: Node, event: NodeEvent | Consequence, ctx: Context) -> Move | None:
        if isinstance(event, AboutAttempt) and event.key != ctx.key(node):
            return None
        match event, node.phase:
            case NodePrepared(inputs_uri=uri), NodePhase.QUEUED:
                return Move((running(node, ctx, inputs_uri=uri),))
            case AttemptFailed(failure=failure), NodePhase.QUEUED:
                return Move((ended(node, NodePhase.FAILED, ctx, error=failure.at(node.path)),))
            case AbortNode(), NodePhase.QUEUED:
                return Move((structs.replace(node, phase=NodePhase.ABORTING),), (StopAttempt(ctx.key(node)),))
            case AttemptStopped(), NodePhase.ABORTING if not node.framed:
                return Move((ended(node, NodePhase.ABORTED, ctx),))
        return on_frame(node, event, ctx, self.begin)

    def pending(self, node: Node, ctx: Context) -> Sequence[Effect]:
        match node.phase:
            case NodePhase.QUEUED:
                return (_resolve(node, ctx),)
            case NodePhase.ABORTING if not node.framed:
                return (StopAttempt(ctx.key(node)),)
        return ()

    async def perform(self, effect: Effect, services: Services) -> Sequence[Event]:
        assert isinstance(effect, ResolveInputs)
        uri = await resolve_and_store(services.blobs, effect.key, effect.bindings, effect.sources)
        return (NodePrepared(effect.key, uri),)


def _resolve(node: Node, ctx: Context) -> ResolveInputs:
    return ResolveInputs(ctx.key(node), ctx.spec.bindings, ctx.sources)
