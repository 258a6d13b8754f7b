"""Task nodes: resolve inputs, run an attempt, judge it, try again while the budget lasts.

An attempt that leaves a plan in place of its outputs (a @dynamic task) opens a frame with the plan's nodes: the machine
executes it, and tells the node how it ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from anyio import to_thread
from msgspec import structs

from engine.data.attempt import Planned, run_attempt
from engine.data.cached import Ended, keep_outputs, through_cache
from engine.data.cachekey import task_key
from engine.data.resolve import resolve
from engine.machine.budget import Retry, decide
from engine.machine.composite import ended, on_frame, running
from engine.machine.handler import AbortNode, Consequence, Context, FrameSucceeded, Move
from engine.machine.retrying import due, next_attempt, retried
from engine.model import layout
from engine.model.cache import CacheKey, CacheStatus
from engine.model.effects import Effect, KeepOutputs, RunTask, StopAttempt
from engine.model.events import (
    AboutAttempt,
    AttemptFailed,
    AttemptPlanned,
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
from engine.wire.package import pack, unpack
from engine.wire.plan import Plan, read_plan


class TaskHandler:
    kind = NodeKind.TASK
    performs: tuple[type[Effect], ...] = (RunTask, KeepOutputs)

    def begin(self, node: Node, ctx: Context) -> Move:
        queued = structs.replace(node, phase=NodePhase.QUEUED, queued_at=node.queued_at or ctx.now)
        return Move((queued,), (self._run(queued, ctx),))

    def on_event(self, node: Node, event: NodeEvent | Consequence, ctx: Context) -> Move | None:
        if isinstance(event, AboutAttempt) and event.key != ctx.key(node):
            return None
        if due(node, event):
            return self.begin(next_attempt(node), ctx)
        match event, node.phase:
            case AttemptStarted(inputs_uri=uri, cache=cache, at=at), NodePhase.QUEUED:
                return Move((structs.replace(_running(node, uri, at or ctx.now), cache=cache),))
            case AttemptSucceeded(), (NodePhase.QUEUED | NodePhase.RUNNING):
                return _succeeded(node, event, ctx)
            case ((AttemptSucceeded() | AttemptFailed()), NodePhase.SUCCEEDING):
                # Whatever came of the keeping, the result is there.
                return Move((ended(node, NodePhase.SUCCEEDED, ctx, cache=event.cache or CacheStatus.PUT_FAILURE),))
            case AttemptPlanned(plan=plan), (NodePhase.QUEUED | NodePhase.RUNNING):
                started = node if node.phase is NodePhase.RUNNING else _running(node, node.inputs_uri, ctx.now)
                return Move((started, running(started, ctx, NodePhase.DYNAMIC_RUNNING, plan=plan)))
            case AttemptFailed(), (NodePhase.QUEUED | NodePhase.RUNNING):
                return self._failed(node, event, ctx)
            case AttemptStopped(), NodePhase.ABORTING if not node.plan:
                return Move((ended(node, NodePhase.ABORTED, ctx),))
            case FrameSucceeded(outputs_uri=uri), NodePhase.DYNAMIC_RUNNING if ctx.spec.cache is not None:
                succeeding = structs.replace(node, phase=NodePhase.SUCCEEDING, outputs_uri=uri, wake_at=0.0)
                return Move((succeeding,), (_keep(succeeding, ctx),))
            case AbortNode(), _ if not node.framed or node.phase is NodePhase.SUCCEEDING:
                return _abort(node, ctx)
        return on_frame(node, event, ctx, self.begin)

    def pending(self, node: Node, ctx: Context) -> Sequence[Effect]:
        if node.plan:
            return (_keep(node, ctx),) if node.phase is NodePhase.SUCCEEDING else ()
        match node.phase:
            case NodePhase.ABORTING:
                return (StopAttempt(ctx.key(node)),)
            case NodePhase.RETRYABLE_FAILURE:
                return ()
        return (self._run(node, ctx, resumed=True),)

    async def perform(self, effect: Effect, services: Services) -> Sequence[Event]:
        if isinstance(effect, KeepOutputs):
            return await _kept_outputs(services, effect)
        assert isinstance(effect, RunTask)
        inputs = await resolve(services.blobs, effect.spec.bindings, effect.sources)
        task, policy = effect.task, effect.spec.cache
        if policy is None:
            return (await _attempt(services, effect, inputs),)
        find_key = partial(task_key, services.blobs, task, policy, inputs)
        return (await through_cache(services, effect, find_key, partial(_attempt, effect=effect, inputs=inputs)),)

    def _run(self, node: Node, ctx: Context, *, resumed: bool = False) -> Effect:
        task, origin = ctx.program.task(ctx.spec.target), ctx.origin
        if ctx.earlier is not None and not node.attempt:
            origin = structs.replace(origin, previous=ctx.earlier.key)
        interruptible = ctx.interruptible(node.system_failures)
        begun = resumed and node.phase is NodePhase.RUNNING
        return RunTask(ctx.key(node), ctx.spec, task, ctx.sources, origin, resumed, interruptible, begun)

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
        node = structs.replace(node, cache=event.cache)
        if isinstance(decision, Retry):
            return retried(node, failure, decision, ctx, self.begin)
        counted = decision.system_failures
        return Move((ended(node, NodePhase.FAILED, ctx, error=decision.failure, system_failures=counted),))


def _abort(node: Node, ctx: Context) -> Move | None:
    """Of a task without a plan, and of one whose plan has succeeded."""
    aborting = structs.replace(node, phase=NodePhase.ABORTING, wake_at=0.0)
    match node.phase:
        case NodePhase.QUEUED | NodePhase.RUNNING:
            return Move((aborting,), (StopAttempt(ctx.key(node)),))
        case NodePhase.SUCCEEDING:
            return Move((aborting,))
        case NodePhase.RETRYABLE_FAILURE:
            return Move((aborting, ended(aborting, NodePhase.ABORTED, ctx)))
    return None


async def _attempt(services: Services, effect: RunTask, inputs: bytes) -> Ended:
    end = await run_attempt(services, effect, inputs)
    return await _planned(effect, end.uri, services) if isinstance(end, Planned) else end


def _succeeded(node: Node, event: AttemptSucceeded, ctx: Context) -> Move:
    """A result that was kept needs no run."""
    states = (node,)
    if node.phase is NodePhase.QUEUED and event.cache is not CacheStatus.HIT:
        states = (_running(node, event.inputs_uri, event.started_at or ctx.now),)
    done = structs.replace(
        states[0], phase=NodePhase.SUCCEEDED, outputs_uri=event.outputs_uri, cache=event.cache, ended_at=ctx.now
    )
    return Move((*states, done))


def _keep(node: Node, ctx: Context) -> KeepOutputs:
    """Of a task that had planned: the result is there once the graph has ended."""
    return KeepOutputs(ctx.key(node), ctx.spec, ctx.program.task(ctx.spec.target), ctx.sources, node.outputs_uri)


async def _kept_outputs(services: Services, effect: KeepOutputs) -> Sequence[Event]:
    policy = effect.spec.cache
    assert policy is not None

    async def find_key() -> CacheKey:
        inputs = await resolve(services.blobs, effect.spec.bindings, effect.sources)
        return await task_key(services.blobs, effect.task, policy, inputs)

    status = await keep_outputs(services, effect, find_key)
    return (AttemptSucceeded(effect.key, effect.outputs_uri, cache=status),)


async def _planned(effect: RunTask, futures_uri: str, services: Services) -> AttemptPlanned:
    """Store what the task planned as a package, so that nobody asks the task again. Raises Permanent, Transient."""
    blobs = services.blobs
    futures = await blobs.get(futures_uri)
    plan = await to_thread.run_sync(read_plan, futures, effect.task)
    plan.stamp(effect.origin.tasks)
    await _complete(plan, effect.origin.package, services)
    package = await to_thread.run_sync(plan.package, effect.origin.code_root)
    await blobs.put(blobs.uri(layout.package(package.digest)), pack(package), durable=True)
    return AttemptPlanned(effect.key, package.digest)


async def _complete(plan: Plan, own: str, services: Services) -> None:
    """Copy what the plan only refers to: from the execution's own package, else from where it is registered."""

    async def take(digest: str) -> None:
        uri = services.blobs.uri(layout.package(digest))
        package = unpack(await services.blobs.get(uri), uri)
        await to_thread.run_sync(plan.complete, package, "" if digest == own else digest)

    if plan.missing():
        await take(own)
    if missing := plan.missing():
        for digest in sorted({*(await services.registered(sorted(missing))).values()}):
            await take(digest)


def _running(node: Node, inputs_uri: str, at: float) -> Node:
    return structs.replace(
        node,
        phase=NodePhase.RUNNING,
        inputs_uri=inputs_uri,
        started_at=node.started_at or at,
        attempt_started_at=at,
    )
