"""From a JSON value, or text a person typed, to the literal of a declared type, strictly checked."""

from __future__ import annotations

from flyteidl.core.literals_pb2 import Literal
from flyteidl.core.types_pb2 import LiteralType

from engine.model.errors import Defect


def to_literal(value: object, type: LiteralType, where: str) -> Literal:
    """The literal of `type` for `value`. Raises BadInput that lists every problem, each with its place (`--xs[3]`)."""
    raise Defect(f"not written yet: {where} {value} {type}")
