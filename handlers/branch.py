"""Branch nodes: the conditions are evaluated once, and the chosen arm runs in a frame of its own.

The choice is stored with the state and never made again. The machine skips the other arms, starts the chosen one as
soon as what it waits for has ended, and passes its outputs on as the branch's own.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from engine.data.nodes import evaluate_branch
from engine.machine.composite import ended, on_frame, running
from engine.machine.handler import AbortNode, Consequence, Context, Move
from engine.model.effects import Effect, EvaluateBranch, StopAttempt
from engine.model.events import AboutAttempt, AttemptFailed, AttemptStopped, Event, NodeEvent, NodePrepared
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
        match event, node.phase:
            case NodePrepared(inputs_uri=uri, choice=choice), NodePhase.QUEUED:
                return Move((running(node, ctx, inputs_uri=uri, choice=choice),))
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
                return (EvaluateBranch(ctx.key(node), ctx.spec, ctx.sources),)
            case NodePhase.ABORTING if not node.framed:
                return (StopAttempt(ctx.key(node)),)
        return ()

    async def perform(self, effect: Effect, services: Services) -> Sequence[Event]:
        assert isinstance(effect, EvaluateBranch)
        uri, choice = await evaluate_branch(services.blobs, effect.key, effect.spec, effect.sources)
        return (NodePrepared(effect.key, uri, choice=choice),)
