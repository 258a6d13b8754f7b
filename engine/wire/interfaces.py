"""Interfaces and ids, from flyteidl messages to nouns."""

from __future__ import annotations

from collections.abc import Mapping

from flyteidl.core.identifier_pb2 import Identifier
from flyteidl.core.interface_pb2 import TypedInterface, VariableMap
from flyteidl.core.types_pb2 import LiteralType, SimpleType, UnionType
from msgspec import Struct

from engine.model.graph import Interface
from engine.model.ids import EntityId, EntityKind


class NodeInterface(Struct, frozen=True):
    """What a node takes and gives. None stands for what the package does not tell, and is never checked."""

    inputs: Mapping[str, bytes] | None = None
    outputs: Mapping[str, bytes | None] | None = None
    optional: frozenset[str] = frozenset()
    """Inputs that a node may leave unbound, because what it runs has a default for them."""


def entity_id(identifier: Identifier, kind: EntityKind) -> EntityId:
    """The id of an entity; `kind` comes from where the identifier stands, for the message may leave it out."""
    return EntityId(kind, identifier.project, identifier.domain, identifier.name, identifier.version)


def interface_of(message: TypedInterface) -> Interface:
    """Types by name, sorted by name: a protobuf map has no order of its own."""
    return Interface(_types(message.inputs), _types(message.outputs))


def _types(variables: VariableMap) -> dict[str, bytes]:
    return {name: dump_type(variables.variables[name].type) for name in sorted(variables.variables)}


def dump_type(kind: LiteralType) -> bytes:
    """The canonical bytes of a type."""
    return kind.SerializeToString(deterministic=True)


def list_of(item: bytes, *, optional: bool = False) -> bytes:
    """The type of a list of such items; `optional` ones may be None, as tolerated failures of a map are."""
    kind = LiteralType.FromString(item)
    if optional:
        variants = kind.union_type.variants if kind.WhichOneof("type") == "union_type" else [kind]
        kind = LiteralType(union_type=UnionType(variants=[*variants, LiteralType(simple=SimpleType.NONE)]))
    return dump_type(LiteralType(collection_type=kind))
