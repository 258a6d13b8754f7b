"""The inputs of an execution: from what a person gave to one complete, serialized `LiteralMap`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from flyteidl.core.literals_pb2 import Literal, LiteralMap
from flyteidl.core.types_pb2 import LiteralType
from google.protobuf.message import DecodeError
from msgspec import Struct

from engine.model.errors import BadInput
from engine.model.graph import Graph, LaunchPlanSpec
from engine.wire.casting import castable
from engine.wire.documents import read_document
from engine.wire.inference import literal_type
from engine.wire.literals import build
from engine.wire.mistakes import Mistakes, closest, shown
from engine.wire.natural import Json, natural
from engine.wire.typenames import type_name
from engine.wire.variants import Quoted, Remote

_KEPT_EACH = 10
"""Problems listed of one input, so that each of them has its say."""


class InputHelp(Struct, frozen=True):
    """One input, as `--help` lists it."""

    name: str
    type: str
    required: bool
    default: Json = None


def inputs_for(target: LaunchPlanSpec | Graph, given: Mapping[str, object] | bytes, prefix: str = "--") -> bytes:
    """The serialized `LiteralMap` of every input: defaults, overridden by `given`, then the fixed inputs.

    `given` holds, by input name, JSON values, a `str` being text that a person typed; or it is a `LiteralMap` of the
    same, serialized. A bare workflow (`Graph`) has no defaults and no fixed inputs. Raises BadInput with every problem
    of every input, each named with `prefix` before it.
    """
    declared = target.interface.inputs
    defaults, fixed = _presets(target)
    values = _literals(given) if isinstance(given, bytes) else given
    mistakes = Mistakes(kept=_KEPT_EACH * len(values) + len(declared))
    literals = dict(defaults)
    for name, value in values.items():
        where = f"{prefix}{name}"
        if name in fixed:
            mistakes.add(where, f"fixed to {shown(natural(fixed[name]))} by {target.id}, it can't be given")
        elif name not in declared:
            mistakes.add(where, f"no such input{closest(name, declared)}")
        else:
            own = Mistakes(kept=_KEPT_EACH)
            kind = LiteralType.FromString(declared[name])
            literals[name] = (
                _fit(value, kind, where, own) if isinstance(value, Literal) else build(value, kind, where, own)
            )
            mistakes.extend(own)
    for name in sorted(declared.keys() - literals.keys()):
        mistakes.add(f"{prefix}{name}", f"missing, expected {type_name(LiteralType.FromString(declared[name]))}")
    mistakes.raise_if_any(f"the inputs of {target.id}")
    return LiteralMap(literals=literals | fixed).SerializeToString(deterministic=True)


def _literals(data: bytes) -> dict[str, Literal]:
    try:
        return dict(LiteralMap.FromString(data).literals)
    except DecodeError as error:
        raise BadInput(f"the inputs can't be used: {len(data):,} bytes that are no LiteralMap: {error}") from error


def _fit(literal: Literal, declared: LiteralType, where: str, mistakes: Mistakes) -> Literal:
    """A literal that somebody gave as such, if its type fits."""
    if literal.WhichOneof("value") is None:
        mistakes.add(where, f"expected {type_name(declared)}, got a literal without a value")
    elif not castable(found := literal_type(literal), declared):
        mistakes.add(where, f"expected {type_name(declared)}, got a literal of {type_name(found)}")
    return literal


def describe_inputs(target: LaunchPlanSpec | Graph) -> list[InputHelp]:
    """What a caller may give: required inputs first, each group by name."""
    defaults, _ = _presets(target)
    inputs = [
        InputHelp(
            name=name,
            type=type_name(LiteralType.FromString(data)),
            required=name not in defaults,
            default=natural(defaults[name]) if name in defaults else None,
        )
        for name, data in target.interface.inputs.items()
    ]
    return sorted(inputs, key=lambda one: (not one.required, one.name))


def read_inputs_file(path: Path) -> dict[str, object]:
    """Inputs by name, from a JSON file or (any other suffix) a YAML file. Raises BadInput naming file and line."""
    document = read_document(path)
    if not isinstance(document, dict):
        raise BadInput(f"{path}: expected a mapping of input names to values, got {shown(document)}")
    for name in document:
        if not isinstance(name, str):
            raise BadInput(f"{path}: expected input names as keys, got {shown(name)}")
    return as_documents(document)


def as_documents(values: Mapping[str, object]) -> dict[str, object]:
    """Values that come from a JSON or YAML document, where text is text and not what a person typed for anything."""
    return {name: Quoted(value) if isinstance(value, str) else value for name, value in values.items()}


def from_elsewhere(values: Mapping[str, object]) -> dict[str, object]:
    """The same of a document that somebody sent: it is no way to have files of this machine read."""
    return {name: Remote(value) if isinstance(value, str) else value for name, value in values.items()}


def _presets(target: LaunchPlanSpec | Graph) -> tuple[dict[str, Literal], dict[str, Literal]]:
    """Defaults and fixed inputs by name."""
    if isinstance(target, Graph):
        return {}, {}
    return dict(LiteralMap.FromString(target.defaults).literals), dict(LiteralMap.FromString(target.fixed).literals)
