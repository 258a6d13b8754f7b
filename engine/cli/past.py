"""A board of what is stored: an execution as it was at the last commit, with the child executions it started."""

from __future__ import annotations

from collections.abc import AsyncIterator

from engine.cli.board import Board
from engine.cli.documents import Documents
from engine.homes import Records
from engine.machine.execution import ExecutionState
from engine.model.graph import NodeKind
from engine.model.ids import ExecutionId
from engine.model.state import Snapshot
from handlers.launchplan import child_id


async def board_of(documents: Documents, snapshot: Snapshot) -> Board:
    states: dict[ExecutionId, ExecutionState] = {}
    board = Board(states.get)
    waiting = [snapshot]
    while waiting:
        current = waiting.pop(0)
        states[current.execution.id] = await documents.state(current)
        board.follow(current.execution.id)
        waiting += [child async for child in _children(documents.log, current)]
    return board


async def _children(log: Records, snapshot: Snapshot) -> AsyncIterator[Snapshot]:
    for node in snapshot.nodes:
        if node.kind is NodeKind.LAUNCH_PLAN:
            for attempt in range(node.attempt + 1):
                child = await log.snapshot(child_id(snapshot.execution.key(node.path, attempt)))
                if child is not None:
                    yield child
