"""The type of a constant, or of a binding that mixes constants and promises.

A `LiteralType` with no type set stands for "not known": it is castable to everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from flyteidl.core.literals_pb2 import BindingData, Literal, Scalar
from flyteidl.core.types_pb2 import LiteralType, OutputReference, SimpleType, UnionType

from engine.wire.interfaces import dump_type

_PRIMITIVES = {
    "integer": SimpleType.INTEGER,
    "float_value": SimpleType.FLOAT,
    "string_value": SimpleType.STRING,
    "boolean": SimpleType.BOOLEAN,
    "datetime": SimpleType.DATETIME,
    "duration": SimpleType.DURATION,
}


def literal_type(literal: Literal) -> LiteralType:
    """An offloaded literal has the type that its writer inferred."""
    match literal.WhichOneof("value"):
        case "scalar":
            return scalar_type(literal.scalar)
        case "collection":
            return LiteralType(collection_type=merged(map(literal_type, literal.collection.literals)))
        case "map":
            return LiteralType(map_value_type=merged(map(literal_type, literal.map.literals.values())))
        case _:
            return literal.offloaded_metadata.inferred_type


def binding_type(binding: BindingData, promised: Callable[[OutputReference], LiteralType]) -> LiteralType:
    """`promised` gives the type that a promise will have."""
    match binding.WhichOneof("value"):
        case "promise":
            return promised(binding.promise)
        case "scalar":
            return scalar_type(binding.scalar)
        case "collection":
            items = (binding_type(item, promised) for item in binding.collection.bindings)
            return LiteralType(collection_type=merged(items))
        case "map":
            values = (binding_type(value, promised) for value in binding.map.bindings.values())
            return LiteralType(map_value_type=merged(values))
        case _:
            return binding.offloaded_metadata.inferred_type


def scalar_type(scalar: Scalar) -> LiteralType:
    """Binary values are not looked into: a dataclass, a dict and a list can all be one."""
    match scalar.WhichOneof("value"):
        case "primitive":
            return LiteralType(simple=_PRIMITIVES[scalar.primitive.WhichOneof("value") or "integer"])
        case "none_type":
            return LiteralType(simple=SimpleType.NONE)
        case "blob":
            return LiteralType(blob=scalar.blob.metadata.type)
        case "schema":
            return LiteralType(schema=scalar.schema.type)
        case "structured_dataset":
            return LiteralType(structured_dataset_type=scalar.structured_dataset.metadata.structured_dataset_type)
        case "generic":
            return LiteralType(simple=SimpleType.STRUCT)
        case "union":
            return scalar.union.type
        case _:
            return LiteralType()


def merged(types: Iterable[LiteralType]) -> LiteralType:
    """One type for all the items of a list: NONE for no items, a union for several types."""
    distinct = list({dump_type(kind): kind for kind in types}.values())
    match distinct:
        case []:
            return LiteralType(simple=SimpleType.NONE)
        case [only]:
            return only
        case _:
            return LiteralType(union_type=UnionType(variants=distinct))
