"""Map nodes: one task over the elements of lists, a window at a time, gathered in input order.

Element states are two bytes each (engine.machine.arrays); element inputs and outputs stay in the store.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from engine.data.attempt import run_attempt
from engine.data.cached import through_cache
from engine.data.elements import element_cache_key, element_inputs, prepare_array
from engine.data.gather import gather
from engine.machine import arrays
from engine.machine.budget import Retry, decide
from engine.machine.handler import AbortNode, Consequence, Context, ElementStep, Move
from engine.model.cache import CacheStatus
from engine.model.effects import Effect, GatherOutputs, PrepareArray, RunElement, StopAttempt
from engine.model.errors import ErrorKind, Failure, shorten
from engine.model.events import (
    AboutAttempt,
    AttemptFailed,
    AttemptStarted,
    AttemptStopped,
    AttemptSucceeded,
    Event,
    NodeEvent,
    NodePrepared,
)
from engine.model.graph import ArraySpec, NodeKind
from engine.model.ids import AttemptKey
from engine.model.phases import NodePhase
from engine.model.state import Elements, Node
from engine.ports.services import Services

_ENDING = (NodePhase.FAILING, NodePhase.ABORTING)


class ArrayHandler:
    kind = NodeKind.ARRAY
    performs: tuple[type[Effect], ...] = (PrepareArray, RunElement, GatherOutputs)

    def begin(self, node: Node, ctx: Context) -> Move:
        queued = structs.replace(node, phase=NodePhase.QUEUED, queued_at=ctx.now)
        return Move((queued,), (_prepare(queued, ctx),))

    def on_event(self, node: Node, event: NodeEvent | Consequence, ctx: Context) -> Move | None:
        if isinstance(event, AbortNode):
            return _abort(node, ctx)
        if not isinstance(event, AboutAttempt):
            return None
        if event.key.index is not None:
            return _element_event(node, event.key, event, ctx)
        if event.key != ctx.key(node):
            return None
        match event, node.phase:
            case NodePrepared(), NodePhase.QUEUED:
                return _run(node, event, ctx)
            case AttemptSucceeded(outputs_uri=uri), NodePhase.SUCCEEDING:
                done = structs.replace(node, phase=NodePhase.SUCCEEDED, outputs_uri=uri, ended_at=ctx.now)
                return Move((done,))
            case AttemptFailed(failure=failure), (NodePhase.QUEUED | NodePhase.SUCCEEDING):
                failed = structs.replace(node, phase=NodePhase.FAILED, error=failure.at(node.path), ended_at=ctx.now)
                return Move((failed,))
            case AttemptStopped(), NodePhase.ABORTING:
                return Move((structs.replace(node, phase=NodePhase.ABORTED, ended_at=ctx.now),))
        return None

    def pending(self, node: Node, ctx: Context) -> Sequence[Effect]:
        if node.phase is NodePhase.QUEUED:
            return (_prepare(node, ctx),)
        if node.phase is NodePhase.SUCCEEDING:
            return (_gather(node, ctx),)
        if node.phase in _ENDING:
            return _stops(node, ctx)
        elements = _elements(node)
        return [_effect(node, k, elements, ctx, resumed=True) for k in arrays.live_indexes(elements)]

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


async def _run_element(services: Services, effect: RunElement) -> AttemptSucceeded | AttemptFailed:
    inputs = await element_inputs(services.blobs, effect)
    key, spec, task = effect.key, effect.spec, effect.task

    async def attempt(services: Services) -> AttemptSucceeded | AttemptFailed:
        return await run_attempt(services, key, spec, task, inputs, effect.origin, resumed=effect.resumed)

    if spec.cache is None:
        return await attempt(services)
    return await through_cache(services, effect, lambda: element_cache_key(services.blobs, effect), attempt)


def _prepare(node: Node, ctx: Context) -> PrepareArray:
    return PrepareArray(ctx.key(node), ctx.spec, ctx.program.task(ctx.spec.target), ctx.sources)


def _gather(node: Node, ctx: Context) -> GatherOutputs:
    return GatherOutputs(ctx.key(node), ctx.spec, ctx.program.task(ctx.spec.target), _elements(node))


def _effect(node: Node, index: int, elements: Elements, ctx: Context, *, resumed: bool = False) -> RunElement:
    key = ctx.element_key(node, index, arrays.attempt_of(elements, index))
    task = ctx.program.task(ctx.spec.target)
    return RunElement(key, ctx.spec, task, node.inputs_uri, elements.size, ctx.origin, resumed)


def _elements(node: Node) -> Elements:
    assert node.elements is not None
    return node.elements


def _array(ctx: Context) -> ArraySpec:
    assert ctx.spec.array is not None
    return ctx.spec.array


def _run(node: Node, event: NodePrepared, ctx: Context) -> Move:
    elements = arrays.created(event.size or 0)
    running = structs.replace(
        node,
        phase=NodePhase.RUNNING,
        inputs_uri=event.inputs_uri,
        started_at=ctx.now,
        attempt_started_at=ctx.now,
        elements=elements,
    )
    return _advance(running, elements, ctx, (running,), ())


def _element_event(node: Node, key: AttemptKey, event: NodeEvent, ctx: Context) -> Move | None:
    """An event about one element; dropped unless it speaks of the attempt that is live."""
    elements, index = node.elements, key.index
    assert index is not None
    if elements is None or index >= elements.size:
        return None
    phase, attempt = arrays.phase_of(elements, index), arrays.attempt_of(elements, index)
    if key != ctx.element_key(node, index, attempt) or phase not in (NodePhase.QUEUED, NodePhase.RUNNING):
        return None
    match event:
        case AttemptStarted(cache=cache) if phase is NodePhase.QUEUED:
            after = arrays.with_element(elements, index, NodePhase.RUNNING)
            return _moved(node, after, (ElementStep(index, attempt, NodePhase.RUNNING, cache=cache),))
        case AttemptSucceeded(output_bytes=sizes, cache=cache):
            after = arrays.with_element(elements, index, NodePhase.SUCCEEDED)
            total = {name: after.output_bytes.get(name, 0) + size for name, size in sizes.items()}
            cached = after.cached + (cache is CacheStatus.HIT)
            after = structs.replace(after, output_bytes={**after.output_bytes, **total}, cached=cached)
            return _advance(node, after, ctx, (), (ElementStep(index, attempt, NodePhase.SUCCEEDED, cache=cache),))
        case AttemptFailed():
            return _element_failed(node, index, event, ctx)
        case AttemptStopped():
            after = arrays.with_element(elements, index, NodePhase.ABORTED)
            return _advance(node, after, ctx, (), (ElementStep(index, attempt, NodePhase.ABORTED),))
    return None


def _element_failed(node: Node, index: int, event: AttemptFailed, ctx: Context) -> Move:
    elements = _elements(node)
    attempt = arrays.attempt_of(elements, index)
    decision = decide(
        event.failure.at(f"{node.path}[{index}]"),
        recoverable=event.recoverable and attempt < arrays.MAX_ATTEMPT,
        attempt=attempt,
        system_failures=arrays.system_failures_of(elements, index),
        retries=ctx.spec.retries,
        limits=ctx.retries,
    )
    if isinstance(decision, Retry) and node.phase is NodePhase.RUNNING:
        after = arrays.with_element(elements, index, NodePhase.QUEUED, attempt + 1, decision.system_failures)
        steps = (
            ElementStep(index, attempt, NodePhase.RETRYABLE_FAILURE, event.failure, event.cache),
            ElementStep(index, attempt + 1, NodePhase.QUEUED),
        )
        return structs.replace(_moved(node, after, steps), effects=(_effect(node, index, after, ctx),))
    failure = event.failure if isinstance(decision, Retry) else decision.failure
    after = arrays.with_element(elements, index, NodePhase.FAILED)
    if after.first_error is None:
        after = structs.replace(after, first_error=failure.at(f"{node.path}[{index}]"))
    return _advance(node, after, ctx, (), (ElementStep(index, attempt, NodePhase.FAILED, failure, event.cache),))


def _moved(node: Node, elements: Elements, steps: tuple[ElementStep, ...]) -> Move:
    return Move((structs.replace(node, elements=elements),), (), steps)


def _advance(
    node: Node, elements: Elements, ctx: Context, states: tuple[Node, ...], steps: tuple[ElementStep, ...]
) -> Move:
    """After any change: fail, finish, or fill the window. `states` are the states the node has passed in this move."""
    node = structs.replace(node, elements=elements)
    if node.phase in _ENDING:
        if elements.live:
            return Move((*states, node), (), steps)
        end = NodePhase.FAILED if node.phase is NodePhase.FAILING else NodePhase.ABORTED
        return Move((*states, structs.replace(node, phase=end, ended_at=ctx.now)), (), steps)
    need = arrays.needed(elements.size, _array(ctx))
    if elements.size - elements.failed < need:
        return _fail(node, need, ctx, states, steps)
    if elements.live == 0 and elements.next == elements.size:
        succeeding = structs.replace(node, phase=NodePhase.SUCCEEDING)
        return Move((*states, succeeding), (_gather(succeeding, ctx),), steps)
    return _fill(node, ctx, states, steps)


def _fill(node: Node, ctx: Context, states: tuple[Node, ...], steps: tuple[ElementStep, ...]) -> Move:
    """Start elements, first indexes first, while the window has room."""
    elements = _elements(node)
    room = min(_array(ctx).parallelism or elements.size, ctx.arrays.max_in_flight) - elements.live
    first, last = elements.next, min(elements.next + max(room, 0), elements.size)
    for index in range(first, last):
        elements = arrays.with_element(elements, index, NodePhase.QUEUED)
    node = structs.replace(node, elements=structs.replace(elements, next=last))
    started = tuple(ElementStep(index, 0, NodePhase.QUEUED) for index in range(first, last))
    effects = tuple(_effect(node, index, elements, ctx) for index in range(first, last))
    return Move((*states, node), effects, steps + started)


def _fail(node: Node, need: int, ctx: Context, states: tuple[Node, ...], steps: tuple[ElementStep, ...]) -> Move:
    """The criterion can't be met any more: stop what still runs, then fail."""
    elements = _elements(node)
    error = _failure(node, elements, need)
    if elements.live == 0:
        return Move((*states, structs.replace(node, phase=NodePhase.FAILED, error=error, ended_at=ctx.now)), (), steps)
    failing = structs.replace(node, phase=NodePhase.FAILING, error=error)
    return Move((*states, failing), _stops(failing, ctx), steps)


def _failure(node: Node, elements: Elements, need: int) -> Failure:
    """Names the failed elements, their count and the first error, whose code and kind it carries."""
    if elements.first_error is None:
        message = f"{need} of {elements.size} elements must succeed, which {elements.size} elements can't do"
        return Failure("ArrayNodeFailing", ErrorKind.USER, message, node.path)
    first = elements.first_error
    failed = arrays.spans(arrays.in_phase(elements, NodePhase.FAILED))
    what = "1 element" if elements.failed == 1 else f"{elements.failed} elements"
    message = (
        f"{what} of {elements.size} failed: {failed}; {need} must succeed. "
        f"First error, at {first.node}: {first.message}"
    )
    return Failure(first.code, first.kind, shorten(message), node.path)


def _stops(node: Node, ctx: Context) -> tuple[Effect, ...]:
    """Stop every live element; or, where no element exists yet or all are done, the preparing or the gather."""
    elements = node.elements
    if elements is None or elements.live == 0:
        return (StopAttempt(ctx.key(node)),)
    return tuple(
        StopAttempt(ctx.element_key(node, k, arrays.attempt_of(elements, k))) for k in arrays.live_indexes(elements)
    )


def _abort(node: Node, ctx: Context) -> Move | None:
    if node.phase is NodePhase.ABORTING:
        return None
    aborting = structs.replace(node, phase=NodePhase.ABORTING)
    return Move((aborting,), () if node.phase is NodePhase.FAILING else _stops(aborting, ctx))
