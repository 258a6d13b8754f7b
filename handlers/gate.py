"""Gate nodes: wait for a signal from outside, for a person's approval, or for a time to pass.

Signals are kept with the execution, so an early one is found when its gate begins. A timer (`wake_at`) ends the wait.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from engine.data.literals import literal_map
from engine.data.nodes import store_outputs, write_outputs
from engine.machine.budget import Retry, decide
from engine.machine.handler import AbortNode, Consequence, Context, Move, SignalCame
from engine.model.effects import Effect, StopAttempt, TakeSignal
from engine.model.errors import BadInput, BlobNotFound, ErrorKind, Failure, Permanent, StoreRefused
from engine.model.events import (
    AboutAttempt,
    AttemptFailed,
    AttemptStopped,
    AttemptSucceeded,
    Event,
    NodeEvent,
    SignalRefused,
    TimerFired,
)
from engine.model.graph import GateKind, GateSpec, NodeKind
from engine.model.phases import NodePhase
from engine.model.state import Node
from engine.ports.services import Services
from engine.wire.signals import is_approval, read_signal

FLYTEKIT_SECONDS = 3600.0
"""The timeout that flytekit writes on every gate whose author gave none; a sleep's author can't give one."""


class GateHandler:
    kind = NodeKind.GATE
    performs: tuple[type[Effect], ...] = (TakeSignal,)

    def begin(self, node: Node, ctx: Context) -> Move:
        return _wait(structs.replace(node, queued_at=ctx.now), ctx)

    def on_event(self, node: Node, event: NodeEvent | Consequence, ctx: Context) -> Move | None:
        if isinstance(event, AbortNode):
            return _abort(node, ctx)
        if isinstance(event, SignalCame):
            return Move((node,), _take(node, ctx))
        if not isinstance(event, AboutAttempt) or event.key != ctx.key(node):
            return None
        match event, node.phase:
            case TimerFired(), NodePhase.RUNNING:
                return _woken(node, ctx)
            case SignalRefused(), NodePhase.RUNNING:
                # Its time may have run out while the value was being looked at.
                return _woken(node, ctx) or Move((node,), _take(node, ctx))
            case AttemptSucceeded(outputs_uri=uri), NodePhase.RUNNING:
                return Move((_ended(node, NodePhase.SUCCEEDED, ctx, outputs_uri=uri),))
            case AttemptFailed(failure=failure), NodePhase.RUNNING:
                return Move((_ended(node, NodePhase.FAILED, ctx, error=failure.at(node.path)),))
            case AttemptStopped(), NodePhase.ABORTING:
                return Move((_ended(node, NodePhase.ABORTED, ctx),))
        return None

    def pending(self, node: Node, ctx: Context) -> Sequence[Effect]:
        if node.phase is NodePhase.ABORTING:
            return (StopAttempt(ctx.key(node)),)
        return _take(node, ctx)

    async def perform(self, effect: Effect, services: Services) -> Sequence[Event]:
        assert isinstance(effect, TakeSignal)
        key, gate = effect.key, effect.gate
        try:
            value = await services.blobs.get(effect.value_uri)
            if gate.kind is GateKind.SIGNAL:
                read_signal(gate, value)
                outputs = literal_map({gate.variable: value})
                return (AttemptSucceeded(key, await store_outputs(services.blobs, key, outputs)),)
            approved = is_approval(gate, value)
        except (BadInput, BlobNotFound, StoreRefused) as problem:
            return (SignalRefused(key, gate.signal_id, effect.value_uri, str(problem)),)
        if not approved:
            message = f"the approval {gate.signal_id!r} was rejected"
            raise Permanent(Failure("ReceivedRejectSignal", ErrorKind.USER, message))
        return (AttemptSucceeded(key, await write_outputs(services.blobs, key, effect.bindings, effect.sources)),)


def _gate(ctx: Context) -> GateSpec:
    assert ctx.spec.gate is not None
    return ctx.spec.gate


def _wait(node: Node, ctx: Context) -> Move:
    """Begin to wait; a sleep of no length is over at once."""
    running = structs.replace(
        node, phase=NodePhase.RUNNING, started_at=node.started_at or ctx.now, attempt_started_at=ctx.now
    )
    running = structs.replace(running, wake_at=_wake_at(running, ctx))
    if _slept(running, ctx):
        return Move((running, _ended(running, NodePhase.SUCCEEDED, ctx)))
    return Move((running,), _take(running, ctx))


def _wake_at(node: Node, ctx: Context) -> float:
    """When the wait is over: the end of the sleep, or the timeout, whichever comes first; 0 = never.

    flytekit writes a timeout of an hour on every sleep, so that one says nothing about what the author wants.
    """
    gate, timeout = _gate(ctx), ctx.spec.timeout_seconds
    begun = node.attempt_started_at
    if gate.kind is not GateKind.SLEEP:
        return begun + timeout if timeout is not None else 0.0
    if timeout is None or timeout == FLYTEKIT_SECONDS:
        return begun + gate.seconds
    return begun + min(gate.seconds, timeout)


def _slept(node: Node, ctx: Context) -> bool:
    gate = _gate(ctx)
    return gate.kind is GateKind.SLEEP and ctx.now >= node.attempt_started_at + gate.seconds


def _take(node: Node, ctx: Context) -> tuple[Effect, ...]:
    """Take the signal, if it is set."""
    gate = _gate(ctx)
    uri = ctx.execution.signals.get(gate.signal_id, "") if gate.kind is not GateKind.SLEEP else ""
    return (TakeSignal(ctx.key(node), gate, uri, ctx.spec.bindings, ctx.sources),) if uri else ()


def _woken(node: Node, ctx: Context) -> Move | None:
    """The time has come: the sleep is over, or the wait was in vain. None where a signal is being taken, or too early.

    A signal that came in time counts, even if it is still being read.
    """
    if _slept(node, ctx):
        return Move((_ended(node, NodePhase.SUCCEEDED, ctx),))
    if not node.wake_at or ctx.now < node.wake_at or _take(node, ctx):
        return None
    return _timed_out(node, ctx)


def _timed_out(node: Node, ctx: Context) -> Move:
    gate = _gate(ctx)
    what = "slept" if gate.kind is GateKind.SLEEP else f"waited for the signal {gate.signal_id!r}"
    message = f"the gate {what} longer than its timeout of {ctx.spec.timeout_seconds:g} s"
    failure = Failure("TimeoutExpired", ErrorKind.USER, message, node.path)
    decision = decide(
        failure,
        recoverable=True,
        attempt=node.attempt,
        system_failures=node.system_failures,
        retries=ctx.spec.retries,
        limits=ctx.retries,
    )
    if not isinstance(decision, Retry):
        return Move((_ended(node, NodePhase.FAILED, ctx, error=decision.failure),))
    failed = structs.replace(node, phase=NodePhase.RETRYABLE_FAILURE, error=failure)
    queued = structs.replace(failed, phase=NodePhase.QUEUED, attempt=node.attempt + 1, error=None)
    again = _wait(queued, ctx)
    return Move((failed, queued, *again.states), again.effects)


def _abort(node: Node, ctx: Context) -> Move | None:
    if node.phase is not NodePhase.RUNNING:
        return None
    aborting = structs.replace(node, phase=NodePhase.ABORTING, wake_at=0.0)
    if _take(node, ctx):
        return Move((aborting,), (StopAttempt(ctx.key(node)),))
    return Move((aborting, _ended(aborting, NodePhase.ABORTED, ctx)))


def _ended(node: Node, phase: NodePhase, ctx: Context, **changes: object) -> Node:
    return structs.replace(node, phase=phase, ended_at=ctx.now, wake_at=0.0, **changes)
