"""What is wrong with a package: collected, never raised one by one, so that an author sees everything at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from msgspec import Struct

from engine.model.ids import EntityId


class Severity(StrEnum):
    STRUCTURAL = "structural"
    """The package contradicts itself: refused whatever is run."""
    CAPABILITY = "capability"
    """Sound, but this engine lacks something: refused only when what is run reaches it."""


class Problem(Struct, frozen=True):
    entity: EntityId
    message: str
    node: str = ""
    """Node id inside the workflow; empty for the entity itself."""
    severity: Severity = Severity.STRUCTURAL

    def __str__(self) -> str:
        place = f", node {self.node}" if self.node else ""
        return f"{self.entity}{place}: {self.message}"


@dataclass(slots=True)
class Report:
    """Collects problems while a package is compiled."""

    problems: list[Problem] = field(default_factory=list)

    def wrong(self, entity: EntityId, messages: Iterable[str], node: str = "") -> None:
        """The package contradicts itself."""
        self.problems.extend(Problem(entity, message, node) for message in messages)

    def lacks(self, entity: EntityId, message: str, node: str = "") -> None:
        """This engine can't do it."""
        self.problems.append(Problem(entity, message, node, Severity.CAPABILITY))

    def sorted(self) -> tuple[Problem, ...]:
        """Structural problems first; otherwise in the order in which they were found, without repetitions."""
        return tuple(
            sorted(dict.fromkeys(self.problems), key=lambda problem: problem.severity is not Severity.STRUCTURAL)
        )
