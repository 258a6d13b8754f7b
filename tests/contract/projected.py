"""Updates of a projection, as a follower of the log would hand them in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from engine.adapters.sqlite.projection import SqliteProjection
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact, Node
from engine.ports.projection import Update
from engine.wire import codec

KEEP_SECONDS = 1000.0


class Told:
    """What a projection has told, and the time that it goes by."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now
        self.executions: list[Execution] = []
        self.facts: list[Fact] = []

    def hear(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
        self.executions += executions
        self.facts += facts


@asynccontextmanager
async def projection_in(folder: Path, told: Told, source: str = "here") -> AsyncIterator[SqliteProjection]:
    path = folder / "projection.db"
    async with SqliteProjection.open(path, source, KEEP_SECONDS, told.hear, lambda: told.now) as projection:
        yield projection


def update(
    executions: Iterable[Execution] = (),
    nodes: Iterable[tuple[ExecutionId, Node]] = (),
    facts: Iterable[Fact] = (),
    forgotten: Iterable[ExecutionId] = (),
    **positions: int,
) -> Update:
    return Update(
        {each.id: (each, codec.pack_execution(each)) for each in executions},
        set(forgotten),
        {(owner, node.path): codec.pack_node(node) for owner, node in nodes},
        [(fact, codec.pack_fact(fact)) for fact in facts],
        positions,
    )
