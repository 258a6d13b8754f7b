"""The next attempt of a node: at once, or when the wait that follows the failed one is over."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from engine.machine.budget import GiveUp, Retry, decide_whole, wait_seconds
from engine.machine.handler import Context, Move
from engine.model.errors import Failure
from engine.model.events import TimerFired
from engine.model.phases import NodePhase
from engine.model.state import Node

Queue = Callable[[Node, Context], Move]
"""What a handler does with a node that is to be prepared: for the first time, or for its next attempt."""


def retried(node: Node, failure: Failure, decision: Retry, ctx: Context, queue: Queue) -> Move:
    """An attempt of which nothing is left has failed, and another one follows."""
    failed = structs.replace(
        node,
        phase=NodePhase.RETRYABLE_FAILURE,
        error=failure,
        system_failures=decision.system_failures,
        wake_at=_next_at(node, failure, decision, ctx),
    )
    if failed.wake_at:
        return Move((failed,))
    return _after(failed, queue(next_attempt(failed), ctx))


def when_closed(node: Node, ctx: Context, queue: Queue) -> Move:
    """The same for a node that is RETRYABLE_FAILURE already, and of whose attempt something had still to be stopped."""
    assert node.error is not None
    decision = whole(node, node.error, ctx)
    at = _next_at(node, node.error, decision, ctx) if isinstance(decision, Retry) else 0.0
    return Move((structs.replace(node, wake_at=at),)) if at else queue(next_attempt(node), ctx)


def due(node: Node, event: object) -> bool:
    """Whether a timer ends the wait for the next attempt."""
    return isinstance(event, TimerFired) and node.phase is NodePhase.RETRYABLE_FAILURE


def whole(node: Node, failure: Failure, ctx: Context) -> Retry | GiveUp:
    """What follows the failure of a node that is a graph, or an execution, of its own."""
    return decide_whole(failure, attempt=node.attempt, system_failures=node.system_failures, retries=ctx.spec.retries)


def next_attempt(node: Node) -> Node:
    """As it was before it was prepared; nothing of the attempt before it counts any more."""
    return structs.replace(
        node,
        attempt=node.attempt + 1,
        attempt_started_at=0.0,
        error=None,
        choice="",
        plan="",
        cache=None,
        wake_at=0.0,
    )


def _next_at(node: Node, failure: Failure, decision: Retry, ctx: Context) -> float:
    wait = wait_seconds(failure.kind, decision.failures, ctx.key(node), ctx.retries)
    return ctx.now + wait if wait else 0.0


def _after(failed: Node, move: Move) -> Move:
    return structs.replace(move, states=(failed, *move.states))
