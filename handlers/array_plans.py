"""Map nodes over a launch plan: each element is a child execution with a name of its own.

What a map decides is in engine.machine: mapping, elements. Preparing and gathering are the map's over a task.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.data.children import measured, submission
from engine.data.elements import element_inputs
from engine.machine import arrays, elements, mapping
from engine.machine.children import abort_child, child_id, failure_of
from engine.machine.handler import Consequence, Context, ElementStep, Move
from engine.model.effects import AbortChild, Effect, MeasureElement, StartElement, StopAttempt
from engine.model.events import AboutAttempt, AttemptFailed, AttemptStopped, ChildEnded, Event, NodeEvent
from engine.model.graph import NodeKind
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Node
from engine.ports.services import Services


class ArrayOfPlansHandler:
    kind = NodeKind.ARRAY_OF_LAUNCH_PLANS
    performs: tuple[type[Effect], ...] = (StartElement, MeasureElement)

    def begin(self, node: Node, ctx: Context) -> Move:
        return mapping.begin(node, ctx)

    def on_event(self, node: Node, event: NodeEvent | Consequence, ctx: Context) -> Move | None:
        if not isinstance(event, AboutAttempt) or event.key.index is None:
            return elements.of_map(node, event, ctx, self)
        if not elements.is_live(node, event.key, ctx):
            return None
        match event:
            case ChildEnded():
                return self._child_ended(node, event, ctx)
            case AttemptStopped():
                # The start is over, so whatever was submitted precedes this abort in the log.
                return Move((node,), (abort_child(event.key, ctx.execution),))
        return elements.told(node, event, ctx, self)

    def pending(self, node: Node, ctx: Context) -> Sequence[Effect]:
        return mapping.pending(node, ctx, self)

    def start(self, node: Node, index: int, ctx: Context, *, resumed: bool = False) -> StartElement:
        """After a restart the submission is made again, and answered if the child has ended meanwhile."""
        assert ctx.spec.target is not None
        plan = ctx.program.launch_plans[ctx.spec.target]
        key = mapping.element_key(node, index, ctx)
        old, _ = mapping.earlier_element(node, key, ctx)
        recovers = child_id(old) if old else None
        return StartElement(key, child_id(key), ctx.spec, plan, node.inputs_uri, ctx.origin, recovers)

    def stop(self, node: Node, index: int, ctx: Context) -> StopAttempt | AbortChild:
        key = mapping.element_key(node, index, ctx)
        if arrays.phase_of(mapping.elements_of(node), index) is NodePhase.QUEUED:
            return StopAttempt(key)
        return abort_child(key, ctx.execution)

    async def perform(self, effect: Effect, services: Services) -> Sequence[Event]:
        if isinstance(effect, StartElement):
            return await submission(effect, await element_inputs(services.blobs, effect), services)
        assert isinstance(effect, MeasureElement)
        return (await measured(services.blobs, effect),)

    def _child_ended(self, node: Node, event: ChildEnded, ctx: Context) -> Move:
        index, attempt, ending = elements.index_of(event), event.key.attempt, node.phase in mapping.ENDING
        match event.phase:
            case ExecutionPhase.SUCCEEDED if ending:
                return elements.ended(node, ElementStep(index, attempt, NodePhase.SUCCEEDED), ctx, self)
            case ExecutionPhase.SUCCEEDED:
                assert ctx.spec.target is not None
                declared = tuple(ctx.program.launch_plans[ctx.spec.target].interface.outputs)
                return Move((node,), (MeasureElement(event.key, event.outputs_uri, declared),))
            case ExecutionPhase.ABORTED if ending:
                return elements.ended(node, ElementStep(index, attempt, NodePhase.ABORTED), ctx, self)
        failure = AttemptFailed(event.key, failure_of(event))
        if event.phase is ExecutionPhase.ABORTED or attempt >= arrays.MAX_ATTEMPT:
            return elements.failed(node, failure, ctx, self)
        return elements.failed_whole(node, failure, ctx, self)
