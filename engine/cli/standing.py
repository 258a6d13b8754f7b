"""What an execution is doing by now, told as if it had just come to that: for views that begin in the middle."""

from __future__ import annotations

from engine.machine.execution import ExecutionState
from engine.model.phases import NodePhase
from engine.model.state import Execution, Fact


def standing(state: ExecutionState, now: float) -> tuple[list[Execution], list[Fact]]:
    """Its record, and the phases of the execution, of what it has taken over and of its live nodes.

    `now`: seconds since the epoch.
    """
    record = state.record
    if record.terminal:
        return [record], []
    facts = [Fact(record.id, record.sequence, now, record.phase.value)]
    taken_over = [path for path, node in state.nodes.items() if node.phase is NodePhase.RECOVERED]
    for path in [*taken_over, *state.live]:
        node = state.nodes[path]
        facts.append(Fact(record.id, record.sequence, now, node.phase.name, path, attempt=node.attempt))
    return [record], facts
