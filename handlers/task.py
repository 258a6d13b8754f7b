"""Task nodes: resolve inputs, run an attempt, judge it, try again while the budget lasts."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from engine.data.attempt import run_attempt
from engine.data.cached import through_cache
from engine.data.cachekey import task_key
from engine.data.resolve import resolve
from engine.machine.budget import Retry, decide
from engine.machine.handler import AbortNode, Consequence, Context, Move
from engine.model.cache import CacheStatus
from engine.model.effects import Effect, RunTask, StopAttempt
from engine.model.events import (
    AboutAttempt,
    AttemptFailed,
    AttemptStarted,
    AttemptStopped,
    AttemptSucceeded,
    Event,
    NodeEvent,
)
from engine.model.graph import NodeKind
from engine.model.phases import NodePhase
from engine.model.state import Node
from engine.ports.services import Services

_WORKING = (NodePhase.QUEUED, NodePhase.RUNNING)


class TaskHandler:
    kind = NodeKind.TASK
    performs: tuple[type[Effect], ...] = (RunTask,)

    def begin(self, node: Node, ctx: Context) -> Move:
        queued = structs.replace(node, phase=NodePhase.QUEUED, queued_at=ctx.now)
        return Move((queued,), (self._run(queued, ctx),))

    def on_event(self, node: Node, event: NodeEvent | Consequence, ctx: Context) -> Move | None:
        if isinstance(event, AbortNode):
            if node.phase not in _WORKING:
                return None
            return Move((structs.replace(node, phase=NodePhase.ABORTING),), (StopAttempt(ctx.key(node)),))
        if not isinstance(event, AboutAttempt) or event.key != ctx.key(node):
            return None
        match event, node.phase:
            case AttemptStarted(inputs_uri=uri, cache=cache), NodePhase.QUEUED:
                return Move((structs.replace(_running(node, ctx, uri), cache=cache),))
            case AttemptSucceeded(), (NodePhase.QUEUED | NodePhase.RUNNING):
                return _succeeded(node, event, ctx)
            case AttemptFailed(), (NodePhase.QUEUED | NodePhase.RUNNING):
                return self._failed(node, event, ctx)
            case AttemptStopped(), NodePhase.ABORTING:
                return Move((structs.replace(node, phase=NodePhase.ABORTED, ended_at=ctx.now),))
        return None

    def pending(self, node: Node, ctx: Context) -> Sequence[Effect]:
        if node.phase is NodePhase.ABORTING:
            return (StopAttempt(ctx.key(node)),)
        return (self._run(node, ctx, resumed=True),)

    async def perform(self, effect: Effect, services: Services) -> Sequence[Event]:
        assert isinstance(effect, RunTask)
        inputs = await resolve(services.blobs, effect.spec.bindings, effect.sources)
        key, spec, task = effect.key, effect.spec, effect.task

        async def attempt(services: Services) -> AttemptSucceeded | AttemptFailed:
            return await run_attempt(services, key, spec, task, inputs, effect.origin, resumed=effect.resumed)

        policy = spec.cache
        if policy is None:
            return (await attempt(services),)
        return (await through_cache(services, effect, lambda: task_key(services.blobs, task, policy, inputs), attempt),)

    def _run(self, node: Node, ctx: Context, *, resumed: bool = False) -> Effect:
        task = ctx.program.task(ctx.spec.target)
        return RunTask(ctx.key(node), ctx.spec, task, ctx.sources, ctx.origin, resumed)

    def _failed(self, node: Node, event: AttemptFailed, ctx: Context) -> Move:
        failure = event.failure.at(node.path)
        decision = decide(
            failure,
            recoverable=event.recoverable,
            attempt=node.attempt,
            system_failures=node.system_failures,
            retries=ctx.spec.retries,
            limits=ctx.retries,
        )
        if not isinstance(decision, Retry):
            ended = structs.replace(
                node,
                phase=NodePhase.FAILED,
                error=decision.failure,
                system_failures=decision.system_failures,
                cache=event.cache,
                ended_at=ctx.now,
            )
            return Move((ended,))
        failed = structs.replace(node, phase=NodePhase.RETRYABLE_FAILURE, error=failure, cache=event.cache)
        again = structs.replace(
            failed,
            phase=NodePhase.QUEUED,
            attempt=node.attempt + 1,
            system_failures=decision.system_failures,
            attempt_started_at=0.0,
            error=None,
            cache=None,
        )
        return Move((failed, again), (self._run(again, ctx),))


def _succeeded(node: Node, event: AttemptSucceeded, ctx: Context) -> Move:
    """A result that was kept needs no run."""
    states = (node,)
    if node.phase is NodePhase.QUEUED and event.cache is not CacheStatus.HIT:
        states = (_running(node, ctx, node.inputs_uri),)
    done = structs.replace(
        states[0], phase=NodePhase.SUCCEEDED, outputs_uri=event.outputs_uri, cache=event.cache, ended_at=ctx.now
    )
    return Move((*states, done))


def _running(node: Node, ctx: Context, inputs_uri: str) -> Node:
    return structs.replace(
        node,
        phase=NodePhase.RUNNING,
        inputs_uri=inputs_uri,
        started_at=node.started_at or ctx.now,
        attempt_started_at=ctx.now,
    )
