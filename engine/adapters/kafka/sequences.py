"""Numbers of facts: each once. Kafka would take a number twice, so it is checked here."""

from __future__ import annotations

from collections.abc import Sequence

from engine.model.errors import Defect
from engine.model.ids import ExecutionId
from engine.model.state import Fact
from engine.ports.eventlog import Changes


class Sequences:
    """The last number of each execution that has gone on since the partition was taken over."""

    def __init__(self) -> None:
        self._last: dict[ExecutionId, int] = {}

    def check(self, facts: Sequence[Fact]) -> None:
        """Raises Defect for a number that is taken."""
        last: dict[ExecutionId, int] = {}
        for fact in facts:
            if fact.sequence <= last.get(fact.execution, self._last.get(fact.execution, 0)):
                raise Defect(f"history of execution {fact.execution} has a fact number {fact.sequence} already")
            last[fact.execution] = fact.sequence

    def apply(self, changes: Changes) -> None:
        self._last.update((fact.execution, fact.sequence) for fact in changes.facts)
        for execution in changes.executions:
            if execution.terminal:
                self._last.pop(execution.id, None)
