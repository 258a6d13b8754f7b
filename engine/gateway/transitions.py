"""Counts the facts of every commit: phases of executions and nodes, retries, and how soon a node starts."""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram

from engine.gateway.gauges import StateGauges
from engine.machine.execution import ExecutionState
from engine.model.errors import ErrorKind
from engine.model.ids import join, split
from engine.model.phases import NodePhase
from engine.model.state import Fact

_DELAYS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 120, 600)


class Transitions:
    def __init__(self, registry: CollectorRegistry, states: StateGauges) -> None:
        self._states = states
        self._executions = Counter(
            "propwash_execution_transitions", "Phases that executions came into.", ["phase"], registry=registry
        )
        self._nodes = Counter(
            "propwash_node_transitions", "Phases that nodes came into.", ["kind", "phase"], registry=registry
        )
        self._starts = Histogram(
            "propwash_node_start_delay_seconds",
            "From the end of the last upstream node to the start of a node's first attempt.",
            ["kind"],
            registry=registry,
            buckets=_DELAYS,
        )
        self._retries = Counter(
            "propwash_retries", "Tries after a failure, by whose failure it was.", ["cause"], registry=registry
        )

    def see(self, facts: Sequence[Fact]) -> None:
        for fact in facts:
            if not fact.path:
                self._executions.labels(fact.phase).inc()
                continue
            state = self._states.find(fact.execution)
            self._nodes.labels(_kind(state, fact), fact.phase).inc()
            if fact.phase == NodePhase.RETRYABLE_FAILURE.name:
                self.retried("user" if fact.error and fact.error.kind is ErrorKind.USER else "system")
            elif fact.phase == NodePhase.RUNNING.name and state and not fact.attempt and fact.index is None:
                self._started(state, fact)

    def retried(self, cause: str) -> None:
        """`user`, `system`: another attempt of a node; `passing`: an effect that begins anew, which uses up nothing."""
        self._retries.labels(cause).inc()

    def _started(self, state: ExecutionState, fact: Fact) -> None:
        prefix, _ = split(fact.path)
        try:
            upstream, scope = state.spec(fact.path).upstream, state.frame(prefix).scope
        except KeyError:  # the plan of an earlier attempt is gone
            return
        nodes = [state.nodes.get(join(scope, id)) for id in upstream]
        ended = max((node.ended_at for node in nodes if node is not None), default=0.0)
        if ended:
            self._starts.labels(_kind(state, fact)).observe(max(fact.at - ended, 0.0))


def _kind(state: ExecutionState | None, fact: Fact) -> str:
    node = state.nodes.get(fact.path) if state else None
    if node is None:
        return "unknown"
    return "element" if fact.index is not None else node.kind.value
