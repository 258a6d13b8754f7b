"""The inputs of an execution: from what a person gave to one complete, serialized `LiteralMap`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from engine.model.errors import Defect
from engine.model.graph import Graph, LaunchPlanSpec
from engine.wire.natural import Json


class InputHelp(Struct, frozen=True):
    """One input, as `--help` lists it."""

    name: str
    type: str
    required: bool
    default: Json = None


def inputs_for(target: LaunchPlanSpec | Graph, given: Mapping[str, object]) -> bytes:
    """The serialized `LiteralMap` of every input: defaults, overridden by `given`, then the fixed inputs.

    `given` holds, by input name, text a person typed or JSON values. Raises BadInput with every problem of every input.
    """
    raise Defect(f"not written yet: {target.id} {given}")


def describe_inputs(target: LaunchPlanSpec | Graph) -> list[InputHelp]:
    """What a caller may give, required inputs first."""
    raise Defect(f"not written yet: {target.id}")


def read_inputs_file(path: Path) -> dict[str, object]:
    """A JSON or YAML file keyed by input name. Raises BadInput naming the file and the line."""
    raise Defect(f"not written yet: {path}")
