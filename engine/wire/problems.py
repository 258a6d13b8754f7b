"""What is wrong with a package: collected, never raised one by one, so that an author sees everything at once."""

from __future__ import annotations

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
