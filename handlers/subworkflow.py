"""Sub-workflow nodes: a frame of their own inside the same execution.

The machine opens the frame when the node runs, and tells the node how the frame ended.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from engine.data.nodes import resolve_and_store
from engine.machine import composite
from engine.machine.composite import running
from engine.machine.handler import Consequence, Context, Move
from engine.model.effects import Effect, ResolveInputs
from engine.model.events import AboutAttempt, Event, NodeEvent, NodePrepared
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
        if isinstance(event, NodePrepared) and node.phase is NodePhase.QUEUED:
            return Move((running(node, ctx, inputs_uri=event.inputs_uri),))
        return composite.on_graph(node, event, ctx, self.begin)

    def pending(self, node: Node, ctx: Context) -> Sequence[Effect]:
        return composite.pending(node, ctx, _resolve(node, ctx))

    async def perform(self, effect: Effect, services: Services) -> Sequence[Event]:
        assert isinstance(effect, ResolveInputs)
        uri = await resolve_and_store(services.blobs, effect.key, effect.bindings, effect.sources)
        return (NodePrepared(effect.key, uri),)


def _resolve(node: Node, ctx: Context) -> ResolveInputs:
    return ResolveInputs(ctx.key(node), ctx.spec.bindings, ctx.sources)
