"""Gauges that are read off the executions in memory when somebody scrapes: they can't drift from the states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from engine.loop.residents import Residents
from engine.machine import arrays
from engine.machine.execution import ExecutionState
from engine.model.graph import NodeKind
from engine.model.ids import EntityKind, ExecutionId
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Node

_STATES = {NodePhase.QUEUED: "waiting", NodePhase.RUNNING: "running", NodePhase.RETRYABLE_FAILURE: "retrying"}
"""What the phase of a task's node, or of an element of a map, says about the task."""
_UNFINISHED = [phase for phase in ExecutionPhase if phase not in ("SUCCEEDED", "FAILED", "ABORTED")]


class StateGauges(Collector):
    def __init__(self) -> None:
        self._residents: list[Residents] = []

    def attend(self, residents: Residents) -> None:
        self._residents.append(residents)

    def leave(self, residents: Residents) -> None:
        self._residents.remove(residents)

    def find(self, execution: ExecutionId) -> ExecutionState | None:
        return next((found for one in self._residents if (found := one.get(execution)) is not None), None)

    def _all(self) -> Iterator[ExecutionState]:
        for residents in self._residents:
            yield from residents

    def collect(self) -> Iterable[GaugeMetricFamily]:
        phases, tasks = Counter[str](), Counter[str]()
        for state in self._all():
            phases[state.record.phase.value] += 1
            tasks["held"] += len(state.held)
            for path in state.live:
                tasks.update(_tasks(state, state.nodes[path]))
        executions = GaugeMetricFamily("propwash_executions", "Unfinished executions.", labels=["phase"])
        for phase in _UNFINISHED:
            executions.add_metric([phase.value], phases[phase.value])
        yield executions
        family = GaugeMetricFamily(
            "propwash_tasks",
            "Tasks and elements of maps: running, waiting for a slot, held back by max_parallelism, or to be retried.",
            labels=["state"],
        )
        for name in (*_STATES.values(), "held"):
            family.add_metric([name], tasks[name])
        yield family


def _tasks(state: ExecutionState, node: Node) -> Counter[str]:
    if node.kind is NodeKind.TASK and node.phase in _STATES:
        return Counter({_STATES[node.phase]: 1})
    if node.elements is not None and _runs_tasks(state, node.path):
        elements = node.elements
        return Counter({name: arrays.count(elements, phase) for phase, name in _STATES.items()})
    return Counter()


def _runs_tasks(state: ExecutionState, path: str) -> bool:
    """Whether the elements of a map are tasks, and not child executions."""
    try:
        target = state.spec(path).target
    except KeyError:
        return False
    return target is not None and target.kind is EntityKind.TASK
