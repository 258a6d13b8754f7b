"""One element of a map node: its events, its retries, its end. Its state is two bytes (machine.arrays).

Every event is told apart by index and attempt; those of an attempt that is not live are dropped.
"""

from __future__ import annotations

from msgspec import structs

from engine.machine import arrays
from engine.machine.budget import GiveUp, Retry, decide, decide_whole, wait_seconds
from engine.machine.handler import AbortNode, Consequence, Context, ElementStep, Move
from engine.machine.mapping import ElementEffects, abort, advance, elements_of, node_event
from engine.model.cache import CacheStatus
from engine.model.events import (
    AboutAttempt,
    AttemptFailed,
    AttemptStarted,
    AttemptStopped,
    AttemptSucceeded,
    NodeEvent,
    TimerFired,
)
from engine.model.ids import AttemptKey
from engine.model.phases import NodePhase
from engine.model.state import Node


def of_map(node: Node, event: NodeEvent | Consequence, ctx: Context, make: ElementEffects) -> Move | None:
    """What concerns the map as a whole: an abort, the time of next attempts, its preparing, its gather."""
    match event:
        case AbortNode():
            return abort(node, ctx, make)
        case TimerFired():
            return woken(node, ctx, make) if node.phase is NodePhase.RUNNING else None
        case AboutAttempt():
            return node_event(node, event, ctx, make) if event.key == ctx.key(node) else None
    return None


def is_live(node: Node, key: AttemptKey, ctx: Context) -> bool:
    """Whether an event speaks of the attempt of an element that is live."""
    elements, index = node.elements, key.index
    if elements is None or index is None or index >= elements.size:
        return False
    attempt, phase = arrays.attempt_of(elements, index), arrays.phase_of(elements, index)
    return key == ctx.element_key(node, index, attempt) and phase in (NodePhase.QUEUED, NodePhase.RUNNING)


def told(node: Node, event: NodeEvent, ctx: Context, make: ElementEffects) -> Move | None:
    """An event about one live element."""
    elements, index = elements_of(node), index_of(event)
    attempt = event.key.attempt
    match event:
        case AttemptStarted(cache=cache) if arrays.phase_of(elements, index) is NodePhase.QUEUED:
            after = arrays.with_element(elements, index, NodePhase.RUNNING)
            step = ElementStep(index, attempt, NodePhase.RUNNING, cache=cache)
            return Move((structs.replace(node, elements=after),), (), (step,))
        case AttemptSucceeded(output_bytes=sizes, cache=cache, recovered=taken):
            total = {name: elements.output_bytes.get(name, 0) + size for name, size in sizes.items()}
            cached = elements.cached + (cache is CacheStatus.HIT)
            after = structs.replace(elements, output_bytes={**elements.output_bytes, **total}, cached=cached)
            after = structs.replace(after, recovered=elements.recovered + taken)
            step = ElementStep(index, attempt, NodePhase.SUCCEEDED, cache=cache)
            move = ended(structs.replace(node, elements=after), step, ctx, make)
            if arrays.phase_of(elements, index) is NodePhase.RUNNING or cache is CacheStatus.HIT:
                return move
            ran = ElementStep(index, attempt, NodePhase.RUNNING)
            return structs.replace(move, elements=(ran, *move.elements))
        case AttemptFailed():
            return failed(node, event, ctx, make)
        case AttemptStopped():
            return ended(node, ElementStep(index, attempt, NodePhase.ABORTED), ctx, make)
    return None


def ended(node: Node, step: ElementStep, ctx: Context, make: ElementEffects) -> Move:
    """The last step of an element, and what follows for its map."""
    after = arrays.with_element(elements_of(node), step.index, step.phase)
    if step.error is not None and after.first_error is None:
        after = structs.replace(after, first_error=step.error.at(f"{node.path}[{step.index}]"))
    return advance(structs.replace(node, elements=after), ctx, make, (), (step,))


def failed(node: Node, event: AttemptFailed, ctx: Context, make: ElementEffects) -> Move:
    """Another attempt of the element, as far as its own budget goes; else its failure counts."""
    elements, index, attempt = elements_of(node), index_of(event), event.key.attempt
    decision = decide(
        event.failure.at(f"{node.path}[{index}]"),
        recoverable=event.recoverable and attempt < arrays.MAX_ATTEMPT,
        attempt=attempt,
        system_failures=arrays.system_failures_of(elements, index),
        retries=ctx.spec.retries,
        limits=ctx.retries,
    )
    return decided(node, event, decision, ctx, make)


def failed_whole(node: Node, event: AttemptFailed, ctx: Context, make: ElementEffects) -> Move:
    """The same for an element that is an execution of its own: tried again as a whole, if the author asked."""
    index = index_of(event)
    decision = decide_whole(
        event.failure.at(f"{node.path}[{index}]"),
        attempt=event.key.attempt,
        system_failures=0,
        retries=ctx.spec.retries,
    )
    return decided(node, event, decision, ctx, make)


def decided(node: Node, event: AttemptFailed, decision: Retry | GiveUp, ctx: Context, make: ElementEffects) -> Move:
    elements, index, attempt = elements_of(node), index_of(event), event.key.attempt
    if not isinstance(decision, Retry) or node.phase is not NodePhase.RUNNING:
        failure = event.failure if isinstance(decision, Retry) else decision.failure
        return ended(node, ElementStep(index, attempt, NodePhase.FAILED, failure, event.cache), ctx, make)
    step = ElementStep(index, attempt, NodePhase.RETRYABLE_FAILURE, event.failure, event.cache)
    wait = wait_seconds(event.failure.kind, decision.failures, event.key, ctx.retries)
    if wait:
        after = arrays.put_off(elements, index, ctx.now + wait, decision.system_failures)
        return Move((structs.replace(node, elements=after, wake_at=arrays.next_due(after)),), (), (step,))
    after = arrays.with_element(elements, index, NodePhase.QUEUED, attempt + 1, decision.system_failures)
    again = structs.replace(node, elements=after)
    return Move((again,), (make.start(again, index, ctx),), (step, ElementStep(index, attempt + 1, NodePhase.QUEUED)))


def woken(node: Node, ctx: Context, make: ElementEffects) -> Move | None:
    """The time of some next attempts has come."""
    elements, due = arrays.taken_up(elements_of(node), ctx.now)
    if not due:
        return None
    after = structs.replace(node, elements=elements, wake_at=arrays.next_due(elements))
    steps = tuple(ElementStep(index, arrays.attempt_of(elements, index), NodePhase.QUEUED) for index in due)
    return Move((after,), tuple(make.start(after, index, ctx) for index in due), steps)


def index_of(event: NodeEvent) -> int:
    assert event.key.index is not None
    return event.key.index
