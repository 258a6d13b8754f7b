"""A copy of what a log shared by many processes tells, for questions: made of its records, and made anew at will."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct, field

from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact


class Update(Struct):
    """A batch of records; of several about one thing only the last one is here. Bytes: as engine.wire.codec packs."""

    executions: dict[ExecutionId, tuple[Execution, bytes]] = field(default_factory=dict)
    forgotten: set[ExecutionId] = field(default_factory=set)
    """Executions that ended long ago; one that is in `executions`, too, was submitted again since."""
    nodes: dict[tuple[ExecutionId, str], bytes | None] = field(default_factory=dict)
    """By execution and path; None: deleted."""
    facts: list[tuple[Fact, bytes]] = field(default_factory=list)
    """In their order."""
    positions: dict[str, int] = field(default_factory=dict)
    """Source -> offset behind the last of its records that is here."""


class Projection(Protocol):
    @property
    def positions(self) -> Mapping[str, int]:
        """Source -> offset behind what it holds."""
        ...

    async def absorb(self, update: Update) -> None:
        """Take in a batch, with its positions: as a whole or not at all. Raises LogFailed."""
        ...

    async def clear(self) -> None:
        """Begin anew, with no positions. Raises LogFailed."""
        ...
