"""Start and end nodes: a workflow's inputs come in through one, its outputs go out through the other."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from engine.data.nodes import write_outputs
from engine.machine.handler import AbortNode, Consequence, Context, Move
from engine.model.effects import Effect, StopAttempt, WriteOutputs
from engine.model.errors import Defect
from engine.model.events import AttemptFailed, AttemptStopped, AttemptSucceeded, Event, NodeEvent
from engine.model.graph import START_NODE, NodeKind
from engine.model.phases import NodePhase
from engine.model.state import Node
from engine.ports.services import Services


class StartHandler:
    """Succeeds at once: its outputs are the inputs of the frame, wherever they lie."""

    kind = NodeKind.START
    performs: tuple[type[Effect], ...] = ()

    def begin(self, node: Node, ctx: Context) -> Move:
        outputs = ctx.sources.get(START_NODE, "")
        return Move((structs.replace(node, phase=NodePhase.SUCCEEDED, outputs_uri=outputs, ended_at=ctx.now),))

    def on_event(self, node: Node, event: NodeEvent | Consequence, ctx: Context) -> Move | None:
        return None

    def pending(self, node: Node, ctx: Context) -> Sequence[Effect]:
        return ()

    async def perform(self, effect: Effect, services: Services) -> Sequence[Event]:
        raise Defect(f"a start node asks for no effects, got {type(effect).__name__}")


class EndHandler:
    """Writes the outputs of its workflow; a workflow without outputs has nothing to write."""

    kind = NodeKind.END
    performs: tuple[type[Effect], ...] = (WriteOutputs,)

    def begin(self, node: Node, ctx: Context) -> Move:
        if not ctx.spec.bindings:
            return Move((structs.replace(node, phase=NodePhase.SUCCEEDED, ended_at=ctx.now),))
        queued = structs.replace(node, phase=NodePhase.QUEUED, queued_at=ctx.now)
        return Move((queued,), self.pending(queued, ctx))

    def on_event(self, node: Node, event: NodeEvent | Consequence, ctx: Context) -> Move | None:
        match event, node.phase:
            case AbortNode(), NodePhase.QUEUED:
                return Move((structs.replace(node, phase=NodePhase.ABORTING),), (StopAttempt(ctx.key(node)),))
            case AttemptStopped(key=key), NodePhase.ABORTING if key == ctx.key(node):
                return Move((structs.replace(node, phase=NodePhase.ABORTED, ended_at=ctx.now),))
            case AttemptSucceeded(key=key, outputs_uri=uri), NodePhase.QUEUED if key == ctx.key(node):
                return Move((structs.replace(node, phase=NodePhase.SUCCEEDED, outputs_uri=uri, ended_at=ctx.now),))
            case AttemptFailed(key=key, failure=failure), NodePhase.QUEUED if key == ctx.key(node):
                failed = structs.replace(node, phase=NodePhase.FAILED, error=failure.at(node.path), ended_at=ctx.now)
                return Move((failed,))
        return None

    def pending(self, node: Node, ctx: Context) -> tuple[Effect, ...]:
        if node.phase is NodePhase.ABORTING:
            return (StopAttempt(ctx.key(node)),)
        return (WriteOutputs(ctx.key(node), ctx.spec.bindings, ctx.sources),)

    async def perform(self, effect: Effect, services: Services) -> Sequence[Event]:
        assert isinstance(effect, WriteOutputs)
        uri = await write_outputs(services.blobs, effect.key, effect.bindings, effect.sources)
        return (AttemptSucceeded(effect.key, uri),)
