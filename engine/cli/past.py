"""A board of what is stored: an execution as it was at the last commit, with the child executions it started."""

from __future__ import annotations

from engine.cli.board import Board
from engine.gateway.documents import Documents
from engine.machine.children import child_id, started
from engine.machine.execution import ExecutionState
from engine.model.graph import NodeKind
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.phases import NodePhase
from engine.model.state import Node, Snapshot

MOST_ELEMENTS = 20
"""Child executions shown of one map."""


async def board_of(documents: Documents, snapshot: Snapshot) -> Board:
    states: dict[ExecutionId, ExecutionState] = {}
    board = Board(states.get)
    waiting = [snapshot]
    while waiting:
        current = waiting.pop(0)
        states[current.execution.id] = await documents.state(current)
        board.follow(current.execution.id)
        found = [await documents.log.snapshot(child) for child in children_of(current)]
        waiting += [child for child in found if child is not None]
    return board


def children_of(snapshot: Snapshot) -> list[ExecutionId]:
    """The child executions that the nodes of an execution have started, or were about to; of a map the first ones."""
    keys: list[AttemptKey] = []
    for node in snapshot.nodes:
        if node.kind is NodeKind.LAUNCH_PLAN:
            keys += [snapshot.execution.key(node.path, attempt) for attempt in range(node.attempt + 1)]
        else:
            keys += _of_elements(snapshot, node)
    return [child_id(key) for key in keys]


def _of_elements(snapshot: Snapshot, node: Node) -> list[AttemptKey]:
    """Those that have not succeeded come first: they are looked for."""
    found = list(started(snapshot.execution, node))
    found.sort(key=lambda one: one[1] is NodePhase.SUCCEEDED)
    return [key for key, _ in found[:MOST_ELEMENTS]]
