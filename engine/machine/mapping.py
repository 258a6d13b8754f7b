"""What a map node decides, whatever its elements are: a window of them at a time, failures counted, then the gather.

A handler says how one of its elements is started and stopped; what follows from an element's own events is in
engine.machine.elements.
"""

from __future__ import annotations

from typing import Protocol

from msgspec import structs

from engine.machine import arrays
from engine.machine.handler import Context, ElementStep, Move
from engine.machine.recovery import Earlier
from engine.model.effects import Effect, GatherOutputs, PrepareArray, StopAttempt
from engine.model.errors import ErrorKind, Failure, shorten
from engine.model.events import AttemptFailed, AttemptStopped, AttemptSucceeded, NodeEvent, NodePrepared
from engine.model.graph import ArraySpec, LaunchPlanSpec, TaskSpec
from engine.model.ids import AttemptKey
from engine.model.phases import NodePhase
from engine.model.state import Elements, Node

ENDING = (NodePhase.FAILING, NodePhase.ABORTING)


class ElementEffects(Protocol):
    """The effects about one element, whose attempt and phase stand in its node's table."""

    def start(self, node: Node, index: int, ctx: Context, *, resumed: bool = False) -> Effect: ...

    def stop(self, node: Node, index: int, ctx: Context) -> Effect: ...


def begin(node: Node, ctx: Context) -> Move:
    queued = structs.replace(node, phase=NodePhase.QUEUED, queued_at=ctx.now)
    return Move((queued,), (_prepare(queued, ctx),))


def pending(node: Node, ctx: Context, make: ElementEffects) -> tuple[Effect, ...]:
    """What is still due after a restart."""
    if node.phase is NodePhase.QUEUED:
        return (_prepare(node, ctx),)
    if node.phase is NodePhase.SUCCEEDING:
        return (_gather(node, ctx),)
    if node.phase in ENDING:
        return _stops(node, ctx, make)
    return tuple(make.start(node, k, ctx, resumed=True) for k in arrays.at_work(elements_of(node)))


def abort(node: Node, ctx: Context, make: ElementEffects) -> Move | None:
    if node.phase is NodePhase.ABORTING:
        return None
    aborting, steps = _no_more_attempts(structs.replace(node, phase=NodePhase.ABORTING))
    return Move((aborting,), () if node.phase is NodePhase.FAILING else _stops(aborting, ctx, make), steps)


def node_event(node: Node, event: NodeEvent, ctx: Context, make: ElementEffects) -> Move | None:
    """An event about the map as a whole: its preparing or its gather."""
    match event, node.phase:
        case NodePrepared(), NodePhase.QUEUED:
            return _run(node, event, ctx, make)
        case AttemptSucceeded(outputs_uri=uri), NodePhase.SUCCEEDING:
            return Move((structs.replace(node, phase=NodePhase.SUCCEEDED, outputs_uri=uri, ended_at=ctx.now),))
        case AttemptFailed(failure=failure), (NodePhase.QUEUED | NodePhase.SUCCEEDING):
            failed = structs.replace(node, phase=NodePhase.FAILED, error=failure.at(node.path), ended_at=ctx.now)
            return Move((failed,))
        case AttemptStopped(), NodePhase.ABORTING:
            return Move((structs.replace(node, phase=NodePhase.ABORTED, ended_at=ctx.now),))
    return None


def elements_of(node: Node) -> Elements:
    assert node.elements is not None
    return node.elements


def element_key(node: Node, index: int, ctx: Context) -> AttemptKey:
    """The key of the present attempt of an element."""
    return ctx.element_key(node, index, arrays.attempt_of(elements_of(node), index))


def earlier_element(node: Node, key: AttemptKey, ctx: Context) -> tuple[AttemptKey | None, bool]:
    """What a first attempt of an element comes after, and whether that one succeeded: in the attempt of the map before
    this one, if a person tries it again, else in the recovered execution."""
    if key.attempt or key.index is None:
        return None, False
    before = ctx.earlier if not node.attempt else None
    if node.kept is not None:
        before = Earlier(ctx.execution, structs.replace(node, attempt=node.attempt - 1, elements=node.kept))
    return before.element(elements_of(node).size, key.index) if before is not None else (None, False)


def _target(ctx: Context) -> TaskSpec | LaunchPlanSpec:
    assert ctx.spec.target is not None
    return ctx.program.launch_plans.get(ctx.spec.target) or ctx.program.task(ctx.spec.target)


def _prepare(node: Node, ctx: Context) -> PrepareArray:
    return PrepareArray(ctx.key(node), ctx.spec, _target(ctx), ctx.sources)


def _gather(node: Node, ctx: Context) -> GatherOutputs:
    return GatherOutputs(ctx.key(node), ctx.spec, _target(ctx), elements_of(node))


def _array(ctx: Context) -> ArraySpec:
    assert ctx.spec.array is not None
    return ctx.spec.array


def _run(node: Node, event: NodePrepared, ctx: Context, make: ElementEffects) -> Move:
    running = structs.replace(
        node,
        phase=NodePhase.RUNNING,
        inputs_uri=event.inputs_uri,
        started_at=ctx.now,
        attempt_started_at=ctx.now,
        elements=arrays.created(event.size or 0),
    )
    return advance(running, ctx, make, (running,), ())


def advance(
    node: Node, ctx: Context, make: ElementEffects, states: tuple[Node, ...], steps: tuple[ElementStep, ...]
) -> Move:
    """After any change: fail, finish, or fill the window. `states` are the states the node has passed in this move."""
    elements = elements_of(node)
    if node.phase in ENDING:
        if elements.live:
            return Move((*states, node), (), steps)
        end = NodePhase.FAILED if node.phase is NodePhase.FAILING else NodePhase.ABORTED
        return Move((*states, structs.replace(node, phase=end, ended_at=ctx.now)), (), steps)
    need, over = arrays.needed(elements.size, _array(ctx)), elements.live == 0 and elements.next == elements.size
    if elements.size - elements.failed < need and (over or not _array(ctx).run_all):
        return _fail(node, need, ctx, make, states, steps)
    if over:
        succeeding = structs.replace(node, phase=NodePhase.SUCCEEDING)
        return Move((*states, succeeding), (_gather(succeeding, ctx),), steps)
    return _fill(node, ctx, make, states, steps)


def _fill(
    node: Node, ctx: Context, make: ElementEffects, states: tuple[Node, ...], steps: tuple[ElementStep, ...]
) -> Move:
    """Start elements, first indexes first, while the window has room."""
    elements = elements_of(node)
    room = min(_array(ctx).parallelism or elements.size, ctx.arrays.max_in_flight) - elements.live
    first, last = elements.next, min(elements.next + max(room, 0), elements.size)
    if first == last:
        return Move((*states, node), (), steps)
    for index in range(first, last):
        elements = arrays.with_element(elements, index, NodePhase.QUEUED)
    node = structs.replace(node, elements=structs.replace(elements, next=last))
    started = tuple(ElementStep(index, 0, NodePhase.QUEUED) for index in range(first, last))
    effects = tuple(make.start(node, index, ctx) for index in range(first, last))
    return Move((*states, node), effects, steps + started)


def _fail(
    node: Node, need: int, ctx: Context, make: ElementEffects, states: tuple[Node, ...], steps: tuple[ElementStep, ...]
) -> Move:
    """The criterion can't be met any more: stop what still runs, then fail."""
    error = _failure(node, elements_of(node), need)
    node, given_up = _no_more_attempts(structs.replace(node, error=error))
    steps = (*steps, *given_up)
    if elements_of(node).live == 0:
        return Move((*states, structs.replace(node, phase=NodePhase.FAILED, ended_at=ctx.now)), (), steps)
    failing = structs.replace(node, phase=NodePhase.FAILING)
    return Move((*states, failing), _stops(failing, ctx, make), steps)


def _no_more_attempts(node: Node) -> tuple[Node, tuple[ElementStep, ...]]:
    """The elements that wait for another attempt get none."""
    if node.elements is None or not node.elements.waiting:
        return node, ()
    elements, indexes = arrays.given_up(node.elements)
    steps = tuple(ElementStep(index, arrays.attempt_of(elements, index), NodePhase.ABORTED) for index in indexes)
    return structs.replace(node, elements=elements, wake_at=0.0), steps


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


def _stops(node: Node, ctx: Context, make: ElementEffects) -> tuple[Effect, ...]:
    """Stop every live element; or, where no element exists yet or all are done, the preparing or the gather."""
    elements = node.elements
    if elements is None or elements.live == 0:
        return (StopAttempt(ctx.key(node)),)
    return tuple(make.stop(node, k, ctx) for k in arrays.at_work(elements))
