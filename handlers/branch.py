"""Branch nodes: the conditions are evaluated once, and the chosen arm runs in a frame of its own.

The choice is stored with the state and never made again. The machine skips the other arms, starts the chosen one as
soon as what it waits for has ended, and passes its outputs on as the branch's own.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from engine.data.nodes import evaluate_branch
from engine.machine import composite
from engine.machine.composite import running
from engine.machine.handler import Consequence, Context, Move
from engine.model.effects import Effect, EvaluateBranch
from engine.model.events import AboutAttempt, Event, NodeEvent, NodePrepared
from engine.model.graph import NodeKind
from engine.model.phases import NodePhase
from engine.model.state import Node
from engine.ports.services import Services


class BranchHandler:
    kind = NodeKind.BRANCH
    performs: tuple[type[Effect], ...] = (EvaluateBranch,)

    def begin(self, node: Node, ctx: Context) -> Move:
        queued = structs.replace(node, phase=NodePhase.QUEUED, queued_at=node.queued_at or ctx.now)
        return Move((queued,), (EvaluateBranch(ctx.key(queued), ctx.spec, ctx.sources),))

    def on_event(self, node: Node, event: NodeEvent | Consequence, ctx: Context) -> Move | None:
        if isinstance(event, AboutAttempt) and event.key != ctx.key(node):
            return None
        if isinstance(event, NodePrepared) and node.phase is NodePhase.QUEUED:
            return Move((running(node, ctx, inputs_uri=event.inputs_uri, choice=event.choice),))
        return composite.on_graph(node, event, ctx, self.begin)

    def pending(self, node: Node, ctx: Context) -> Sequence[Effect]:
        return composite.pending(node, ctx, EvaluateBranch(ctx.key(node), ctx.spec, ctx.sources))

    async def perform(self, effect: Effect, services: Services) -> Sequence[Event]:
        assert isinstance(effect, EvaluateBranch)
        uri, choice = await evaluate_branch(services.blobs, effect.key, effect.spec, effect.sources)
        return (NodePrepared(effect.key, uri, choice=choice),)
