"""What somebody asked for, found."""

from __future__ import annotations

from msgspec import Struct

from engine.model.graph import Graph, LaunchPlanSpec
from engine.model.ids import EntityId


class Runnable(Struct, frozen=True):
    entity: EntityId
    package: str
    """Digest of a package that is in the store."""
    target: LaunchPlanSpec | Graph
