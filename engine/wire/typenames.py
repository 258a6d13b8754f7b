"""Short names of flyteidl types, for help and error messages: `int`, `list[str]`, `datetime | None`."""

from __future__ import annotations

from flyteidl.core.types_pb2 import LiteralType

from engine.model.errors import Defect


def type_name(type: LiteralType) -> str:
    """How a person would write this type."""
    raise Defect(f"not written yet: {type}")
