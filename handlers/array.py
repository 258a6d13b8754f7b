"""Map nodes over a task: each element is an attempt of its own.

What a map decides is in engine.machine: mapping, elements.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from engine.data.attempt import Planned, run_attempt
from engine.data.cached import Ended, through_cache
from engine.data.elements import element_cache_key, element_inputs, prepare_array
from engine.data.gather import gather
from engine.data.takeover import take_over
from engine.machine import arrays, elements, mapping
from engine.machine.children import place
from engine.machine.handler import Consequence, Context, Move
from engine.model.effects import Effect, GatherOutputs, PrepareArray, RunElement, StopAttempt
from engine.model.errors import ErrorKind, Failure
from engine.model.events import (
    AboutAttempt,
    AttemptFailed,
    AttemptSucceeded,
    Event,
    NodeEvent,
    NodePrepared,
)
from engine.model.graph import NodeKind
from engine.model.phases import NodePhase
from engine.model.state import Node
from engine.ports.services import Services


class ArrayHandler:
    kind = NodeKind.ARRAY
    performs: tuple[type[Effect], ...] = (PrepareArray, RunElement, GatherOutputs)

    def begin(self, node: Node, ctx: Context) -> Move:
        return mapping.begin(node, ctx)

    def on_event(self, node: Node, event: NodeEvent | Consequence, ctx: Context) -> Move | None:
        if not isinstance(event, AboutAttempt) or event.key.index is None:
            return elements.of_map(node, event, ctx, self)
        return elements.told(node, event, ctx, self) if elements.is_live(node, event.key, ctx) else None

    def pending(self, node: Node, ctx: Context) -> Sequence[Effect]:
        return mapping.pending(node, ctx, self)

    def start(self, node: Node, index: int, ctx: Context, *, resumed: bool = False) -> RunElement:
        size, task = mapping.elements_of(node).size, ctx.program.task(ctx.spec.target)
        key = mapping.element_key(node, index, ctx)
        old, succeeded = mapping.earlier_element(node, key, ctx)
        origin = ctx.origin if old is None else structs.replace(ctx.origin, previous=old)
        interruptible = ctx.interruptible(arrays.system_failures_of(mapping.elements_of(node), index))
        taken = old if succeeded else None
        begun = resumed and arrays.phase_of(mapping.elements_of(node), index) is NodePhase.RUNNING
        return RunElement(key, ctx.spec, task, node.inputs_uri, size, origin, resumed, interruptible, begun, taken)

    def stop(self, node: Node, index: int, ctx: Context) -> StopAttempt:
        return StopAttempt(mapping.element_key(node, index, ctx))

    async def perform(self, effect: Effect, services: Services) -> Sequence[Event]:
        match effect:
            case PrepareArray(key=key):
                inputs_uri, size = await prepare_array(services.blobs, services.offload, effect)
                return (NodePrepared(key, inputs_uri, size),)
            case RunElement():
                return (await _run_element(services, effect),)
            case GatherOutputs(key=key):
                return (AttemptSucceeded(key, await gather(services.blobs, services.offload, effect)),)
        raise AssertionError(effect)


async def _run_element(services: Services, effect: RunElement) -> Ended:
    if effect.succeeded is not None and (taken := await take_over(services.blobs, effect)) is not None:
        return taken
    inputs = await element_inputs(services.blobs, effect)

    async def attempt(services: Services) -> AttemptSucceeded | AttemptFailed:
        ended = await run_attempt(services, effect, inputs)
        return _no_dynamic(effect) if isinstance(ended, Planned) else ended

    if effect.spec.cache is None:
        return await attempt(services)
    return await through_cache(services, effect, lambda: element_cache_key(services.blobs, effect), attempt)


def _no_dynamic(effect: RunElement) -> AttemptFailed:
    message = (
        f"element {effect.key.index} of a map wrote a plan (futures.pb): {effect.task.id} is a @dynamic task, which "
        "can't be mapped over; map over a launch plan of a workflow that runs it"
    )
    return AttemptFailed(effect.key, Failure("BadTaskFormat", ErrorKind.USER, message, place(effect.key)))
