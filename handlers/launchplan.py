"""Launch plan nodes: a child execution with a name of its own, started once, finished by its event.

The child's name is a hash of the node's attempt key, so a repeated start is the same submission and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from engine.data.nodes import child_inputs
from engine.machine.frames import AUTO_ABORT
from engine.machine.handler import AbortNode, Consequence, Context, Move
from engine.model import layout
from engine.model.effects import AbortChild, Effect, StartChild, StopAttempt
from engine.model.errors import ErrorKind, Failure, shorten
from engine.model.events import (
    AbortRequested,
    AboutAttempt,
    AttemptFailed,
    AttemptStarted,
    AttemptStopped,
    ChildEnded,
    Event,
    ExecutionSubmitted,
    NodeEvent,
)
from engine.model.graph import NodeKind
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Node
from engine.ports.services import Services


class LaunchPlanHandler:
    kind = NodeKind.LAUNCH_PLAN
    performs: tuple[type[Effect], ...] = (StartChild, AbortChild)

    def begin(self, node: Node, ctx: Context) -> Move:
        queued = structs.replace(node, phase=NodePhase.QUEUED, queued_at=ctx.now)
        return Move((queued,), (_start(queued, ctx),))

    def on_event(self, node: Node, event: NodeEvent | Consequence, ctx: Context) -> Move | None:
        if isinstance(event, AbortNode):
            return self._abort(node, ctx)
        if not isinstance(event, AboutAttempt) or event.key != ctx.key(node):
            return None
        match event, node.phase:
            case AttemptStarted(inputs_uri=uri), NodePhase.QUEUED:
                return Move((_running(node, ctx, uri),))
            case ChildEnded(), (NodePhase.QUEUED | NodePhase.RUNNING):
                running = node if node.phase is NodePhase.RUNNING else _running(node, ctx, "")
                return Move((running, _ended(running, event, ctx)))
            case AttemptFailed(failure=failure), NodePhase.QUEUED:
                failed = structs.replace(node, phase=NodePhase.FAILED, error=failure.at(node.path), ended_at=ctx.now)
                return Move((failed,))
            case AttemptStopped(), NodePhase.ABORTING:
                # The start is over, so whatever was submitted precedes this abort in the log.
                return Move((node,), (_abort_child(node, ctx),))
            case ChildEnded(), NodePhase.ABORTING:
                return Move((structs.replace(node, phase=NodePhase.ABORTED, ended_at=ctx.now),))
        return None

    def pending(self, node: Node, ctx: Context) -> Sequence[Effect]:
        if node.phase is NodePhase.ABORTING:
            return (_abort_child(node, ctx),)
        return (_start(node, ctx),)

    async def perform(self, effect: Effect, services: Services) -> Sequence[Event]:
        if isinstance(effect, AbortChild):
            return (AbortRequested(effect.child, effect.cause, effect.key),)
        assert isinstance(effect, StartChild)
        inputs = await child_inputs(services.blobs, effect.bindings, effect.sources, effect.plan, effect.workflow)
        uri = ""
        if inputs:
            uri = services.blobs.uri(layout.workflow_inputs(effect.child))
            await services.blobs.put(uri, inputs)
        child = ExecutionSubmitted(
            execution=effect.child,
            entity=effect.plan.id,
            package=effect.origin.package,
            inputs_uri=uri,
            parent=effect.key,
            submitted_at=services.clock.now(),
            overwrite_cache=effect.origin.overwrite_cache,
            overrides=effect.origin.overrides,
        )
        return (child, AttemptStarted(effect.key, uri))

    def _abort(self, node: Node, ctx: Context) -> Move | None:
        aborting = structs.replace(node, phase=NodePhase.ABORTING)
        match node.phase:
            case NodePhase.QUEUED:
                return Move((aborting,), (StopAttempt(ctx.key(node)),))
            case NodePhase.RUNNING:
                return Move((aborting,), (_abort_child(node, ctx),))
        return None


def child_id(key: AttemptKey) -> ExecutionId:
    """The child's name: 128 bits of the parent's attempt key; equal keys give equal names."""
    return ExecutionId(key.execution.project, key.execution.domain, f"f{key.digest()}")


def _start(node: Node, ctx: Context) -> StartChild:
    target = ctx.spec.target
    assert target is not None
    plan = ctx.program.launch_plans[target]
    key = ctx.key(node)
    workflow = ctx.program.workflows[plan.workflow]
    return StartChild(key, child_id(key), ctx.spec.bindings, ctx.sources, plan, workflow, ctx.origin)


def _abort_child(node: Node, ctx: Context) -> AbortChild:
    key = ctx.key(node)
    reason = ctx.execution.abort_cause or AUTO_ABORT
    return AbortChild(key, child_id(key), f"cascading abort from parent execution {ctx.id}, node {node.path}: {reason}")


def _running(node: Node, ctx: Context, inputs_uri: str) -> Node:
    return structs.replace(
        node,
        phase=NodePhase.RUNNING,
        inputs_uri=inputs_uri or node.inputs_uri,
        started_at=ctx.now,
        attempt_started_at=ctx.now,
    )


def _ended(node: Node, event: ChildEnded, ctx: Context) -> Node:
    if event.phase is ExecutionPhase.SUCCEEDED:
        return structs.replace(node, phase=NodePhase.SUCCEEDED, outputs_uri=event.outputs_uri, ended_at=ctx.now)
    failure = _failure_of(event, node.path)
    return structs.replace(node, phase=NodePhase.FAILED, error=failure, ended_at=ctx.now)


def _failure_of(event: ChildEnded, path: str) -> Failure:
    """The child's error, with its code and kind, and words that lead to the child."""
    error = event.error or Failure("Unknown", ErrorKind.SYSTEM, "no error was recorded")
    if event.phase is ExecutionPhase.ABORTED:
        message = f"child execution {event.child.name} was aborted: {error.message}"
        return Failure("RemoteChildWorkflowExecutionFailed", ErrorKind.USER, message, path)
    where = f" at node {error.node}" if error.node else ""
    return Failure(
        error.code, error.kind, shorten(f"child execution {event.child.name} failed{where}: {error.message}"), path
    )
