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
from engine.machine.handler import AbortNode, Consequence, Context, FrameClosed, FrameFailed, FrameSucceeded, Move
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
from engine.ports.blobstore import BlobStore
from engine.ports.services import Services
from engine.wire.package import pack, unpack
from engine.wire.plan import read_plan


class TaskHandler:
    kind = NodeKind.TASK
    performs: tuple[type[Effect], ...] = (RunTask, KeepOutputs)

    def begin(self, node: Node, ctx: Context) -> Move:
        queued = structs.replace(node, phase=NodePhase.QUEUED, queued_at=ctx.now)
        return Move((queued,), (self._run(queued, ctx),))

    def on_event(self, node: Node, event: NodeEvent | Consequence, ctx: Context) -> Move | None:
        if not isinstance(event, AboutAttempt):
            return self._consequence(node, event, ctx)
        if event.key != ctx.key(node):
            return None
        match event, node.phase:
            case AttemptStarted(inputs_uri=uri, cache=cache), NodePhase.QUEUED:
                return Move((structs.replace(_running(node, ctx, uri), cache=cache),))
            case AttemptSucceeded(), (NodePhase.QUEUED | NodePhase.RUNNING):
                return _succeeded(node, event, ctx)
            case ((AttemptSucceeded() | AttemptFailed()), NodePhase.SUCCEEDING):
                # Whatever came of the keeping, the result is there.
                cache = event.cache or CacheStatus.PUT_FAILURE
                return Move((structs.replace(node, phase=NodePhase.SUCCEEDED, cache=cache, ended_at=ctx.now),))
            case AttemptPlanned(plan=plan), (NodePhase.QUEUED | NodePhase.RUNNING):
                running = node if node.phase is NodePhase.RUNNING else _running(node, ctx, node.inputs_uri)
                return Move((running, structs.replace(running, phase=NodePhase.DYNAMIC_RUNNING, plan=plan)))
            case AttemptFailed(), (NodePhase.QUEUED | NodePhase.RUNNING):
                return self._failed(node, event, ctx)
            case AttemptStopped(), NodePhase.ABORTING if not node.plan:
                return Move((structs.replace(node, phase=NodePhase.ABORTED, ended_at=ctx.now),))
        return None

    def _consequence(self, node: Node, event: Consequence, ctx: Context) -> Move | None:
        match event, node.phase:
            case FrameSucceeded(outputs_uri=uri), NodePhase.DYNAMIC_RUNNING if ctx.spec.cache is None:
                return Move((structs.replace(node, phase=NodePhase.SUCCEEDED, outputs_uri=uri, ended_at=ctx.now),))
            case FrameSucceeded(outputs_uri=uri), NodePhase.DYNAMIC_RUNNING:
                succeeding = structs.replace(node, phase=NodePhase.SUCCEEDING, outputs_uri=uri)
                return Move((succeeding,), (_keep(succeeding, ctx),))
            case FrameFailed(failure=failure), NodePhase.DYNAMIC_RUNNING:
                return Move((structs.replace(node, phase=NodePhase.FAILING, error=failure),))
            case FrameClosed(), NodePhase.FAILING:
                return Move((structs.replace(node, phase=NodePhase.FAILED, ended_at=ctx.now),))
            case FrameClosed(), NodePhase.ABORTING if node.plan:
                return Move((structs.replace(node, phase=NodePhase.ABORTED, ended_at=ctx.now),))
            case AbortNode(), (NodePhase.QUEUED | NodePhase.RUNNING):
                return Move((structs.replace(node, phase=NodePhase.ABORTING),), (StopAttempt(ctx.key(node)),))
            case AbortNode(), (NodePhase.DYNAMIC_RUNNING | NodePhase.SUCCEEDING | NodePhase.FAILING):
                return Move((structs.replace(node, phase=NodePhase.ABORTING),))
        return None

    def pending(self, node: Node, ctx: Context) -> Sequence[Effect]:
        if node.plan:
            return (_keep(node, ctx),) if node.phase is NodePhase.SUCCEEDING else ()
        if node.phase is NodePhase.ABORTING:
            return (StopAttempt(ctx.key(node)),)
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
        return RunTask(ctx.key(node), ctx.spec, task, ctx.sources, origin, resumed)

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


async def _attempt(services: Services, effect: RunTask, inputs: bytes) -> Ended:
    key, spec, task = effect.key, effect.spec, effect.task
    ended = await run_attempt(services, key, spec, task, inputs, effect.origin, resumed=effect.resumed)
    return await _planned(effect, ended.uri, services.blobs) if isinstance(ended, Planned) else ended


def _succeeded(node: Node, event: AttemptSucceeded, ctx: Context) -> Move:
    """A result that was kept needs no run."""
    states = (node,)
    if node.phase is NodePhase.QUEUED and event.cache is not CacheStatus.HIT:
        states = (_running(node, ctx, event.inputs_uri),)
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


async def _planned(effect: RunTask, futures_uri: str, blobs: BlobStore) -> AttemptPlanned:
    """Store what the task planned as a package, so that nobody asks the task again. Raises Permanent, Transient."""
    futures = await blobs.get(futures_uri)
    plan = await to_thread.run_sync(read_plan, futures, effect.task)
    if plan.missing():
        parent = blobs.uri(layout.package(effect.origin.package))
        await to_thread.run_sync(plan.complete, unpack(await blobs.get(parent), parent))
    package = await to_thread.run_sync(plan.package, effect.origin.code_root)
    await blobs.put(blobs.uri(layout.package(package.digest)), pack(package), durable=True)
    return AttemptPlanned(effect.key, package.digest)


def _running(node: Node, ctx: Context, inputs_uri: str) -> Node:
    return structs.replace(
        node,
        phase=NodePhase.RUNNING,
        inputs_uri=inputs_uri,
        started_at=node.started_at or ctx.now,
        attempt_started_at=ctx.now,
    )
