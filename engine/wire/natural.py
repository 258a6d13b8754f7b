"""Literals as natural JSON, for people: what `propwash get` prints and `--json` holds."""

from __future__ import annotations

from flyteidl.core.literals_pb2 import Literal

from engine.model.errors import Defect

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def natural(literal: Literal) -> Json:
    """The JSON value that a person would write for this literal."""
    raise Defect(f"not written yet: {literal}")


def natural_map(data: bytes, where: str = "a LiteralMap") -> dict[str, Json]:
    """A serialized `LiteralMap` as natural JSON. Raises BadInput, naming `where`, if `data` is no such message."""
    raise Defect(f"not written yet: {where} {data!r}")
