"""What one turn decided, collected record by record and written in one commit."""

from __future__ import annotations

from collections.abc import Iterator

from engine.machine.execution import Step
from engine.model.effects import Effect
from engine.model.events import Event
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact, Node
from engine.ports.eventlog import Changes, DeadLetter


class Ledger:
    """The last state of each execution and node wins; facts, events and effects add up in order."""

    def __init__(self) -> None:
        self.executions: dict[ExecutionId, Execution] = {}
        self.nodes: dict[tuple[ExecutionId, str], Node] = {}
        self.facts: list[Fact] = []
        self.events: list[Event] = []
        self.effects: list[Effect] = []
        self.dead_letters: list[DeadLetter] = []
        self.answers: list[Fact] = []
        """To requests."""
        self.begun: dict[ExecutionId, str] = {}
        """Executions that requests have begun, with the digests of the requests."""
        self.values: dict[str, bytes] = {}
        """By URI: what requests give, to be written before the commit."""
        self.stale = 0

    def enter(self, step: Step) -> None:
        if step.stale:
            self.stale += 1
            return
        execution = step.record.id
        self.executions[execution] = step.record
        for path, node in step.nodes.items():
            self.nodes[(execution, path)] = node
        self.facts.extend(step.facts)
        self.events.extend(step.events)
        self.effects.extend(step.effects)

    def moved(self) -> Iterator[tuple[Execution, Node]]:
        for (execution, _), node in self.nodes.items():
            yield self.executions[execution], node

    def changes(self) -> Changes:
        return Changes(
            executions=list(self.executions.values()),
            nodes=[(execution, node) for (execution, _), node in self.nodes.items()],
            facts=self.facts,
            events=self.events,
            dead_letters=self.dead_letters,
            answers=self.answers,
        )
