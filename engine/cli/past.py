"""A board of what is stored: an execution as it was at the last commit, with the child executions it started."""

from __future__ import annotations

from engine.cli.board import Board
from engine.cli.documents import Documents
from engine.machine.children import child_id
from engine.machine.execution import ExecutionState
from engine.model.graph import NodeKind
from engine.model.ids import ExecutionId
from engine.model.state import Snapshot


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
    """The child executions that the nodes of an execution have started, or were about to."""
    return [
        child_id(snapshot.execution.key(node.path, attempt))
        for node in snapshot.nodes
        if node.kind is NodeKind.LAUNCH_PLAN
        for attempt in range(node.attempt + 1)
    ]
