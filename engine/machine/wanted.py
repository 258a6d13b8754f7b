"""Which attempts an execution still has a use for: what runs for any other one is left over."""

from __future__ import annotations

from engine.machine.arrays import attempt_of, phase_of
from engine.machine.execution import ExecutionState
from engine.model.ids import AttemptKey
from engine.model.phases import LIVE


def wanted(state: ExecutionState, key: AttemptKey) -> bool:
    node = state.nodes.get(key.path)
    if state.record.run != key.run or node is None or not node.live:
        return False
    if key.index is None:
        return node.attempt == key.attempt
    if node.elements is None or node.attempt != key.node_attempt or key.index >= node.elements.size:
        return False
    return phase_of(node.elements, key.index) in LIVE and attempt_of(node.elements, key.index) == key.attempt
