"""Gauges that are read off the executions in memory when somebody scrapes: they can't drift from the states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from engine.loop.residents import Residents
from engine.machine import arrays
from engine.machine.execution import ExecutionState
from engine.machine.overrides import plan_architecture
from engine.model.architectures import Architecture
from engine.model.graph import NodeKind
from engine.model.ids import EntityKind, ExecutionId, split
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Node

_STATES = {NodePhase.QUEUED: "waiting", NodePhase.RUNNING: "running", NodePhase.RETRYABLE_FAILURE: "retrying"}
"""What the phase of a task's node, or of an element of a map, says about the task."""
_PLACED = ("running", "waiting")
_ANYWHERE = {("any", name) for name in _PLACED}
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
        phases, tasks, placed = Counter[str](), Counter[str](), Counter[tuple[str, str]]()
        for state in self._all():
            phases[state.record.phase.value] += 1
            tasks["held"] += len(state.held)
            for path in state.live:
                if found := _tasks(state, state.nodes[path]):
                    tasks.update(found)
                    architecture = _architecture(state, path)
                    placed.update({(architecture, name): found[name] for name in _PLACED})
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
        family = GaugeMetricFamily(
            "propwash_architecture_tasks",
            "Tasks and elements of maps that run or wait, by the architecture that is asked for; any: nobody asks.",
            labels=["architecture", "state"],
        )
        for architecture, name in [("any", name) for name in _PLACED] + sorted(placed.keys() - _ANYWHERE):
            family.add_metric([architecture, name], placed[architecture, name])
        yield family


def _tasks(state: ExecutionState, node: Node) -> Counter[str]:
    if node.kind is NodeKind.TASK and node.phase in _STATES:
        return Counter({_STATES[node.phase]: 1})
    if node.elements is not None and _runs_tasks(state, node.path):
        elements = node.elements
        return Counter({name: arrays.count(elements, phase) for phase, name in _STATES.items()})
    return Counter()


def _architecture(state: ExecutionState, path: str) -> str:
    """What the execution, its launch plan or the task says; the operator's default is for those who say nothing."""
    record = state.record
    said = record.overrides.architecture or plan_architecture(record, state.program)
    if not said:
        with suppress(KeyError):  # the plan of an earlier attempt is gone
            target, program = state.spec(path).target, state.frame(split(path)[0]).program
            task = target and (program.tasks.get(target) or state.program.tasks.get(target))
            said = task.architecture if task else ""
    return said if said in list(Architecture) else "any"


def _runs_tasks(state: ExecutionState, path: str) -> bool:
    """Whether the elements of a map are tasks, and not child executions."""
    try:
        target = state.spec(path).target
    except KeyError:
        return False
    return target is not None and target.kind is EntityKind.TASK
