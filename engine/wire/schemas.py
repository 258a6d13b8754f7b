"""The JSON schema of a dataclass, pydantic model or dict, as flytekit puts it into a STRUCT type (draft 2020-12)."""

from __future__ import annotations

from collections.abc import Mapping

from flyteidl.core.types_pb2 import LiteralType, SimpleType

from engine.wire.natural import Json, struct_json
from engine.wire.typenames import PROTOBUF_NAME

Schema = Mapping[str, Json]
_HOPS = 100
"""References to follow before a chain of them is taken for a circle."""
_SIMPLE: dict[SimpleType, Schema] = {
    SimpleType.INTEGER: {"type": "integer"},
    SimpleType.FLOAT: {"type": "number"},
    SimpleType.STRING: {"type": "string"},
    SimpleType.BOOLEAN: {"type": "boolean"},
    SimpleType.NONE: {"type": "null"},
    SimpleType.DATETIME: {"type": "string", "format": "date-time"},
    SimpleType.DURATION: {"type": "number", "format": "time-delta"},
}
_NAMES = {
    "integer": "int",
    "number": "float",
    "string": "str",
    "boolean": "bool",
    "null": "None",
    "array": "list",
    "object": "dict",
}
_FORMATS = {
    "date-time": "datetime",
    "date": "date",
    "time": "time",
    "time-delta": "duration",
    "duration": "duration",
} | {"base64": "base64 text"}


def schema_of(declared: LiteralType) -> Schema:
    """The schema of a STRUCT type; where flytekit could make none, the types of the fields; for a dict any object."""
    if declared.metadata.fields and PROTOBUF_NAME not in declared.metadata.fields:
        return struct_json(declared.metadata)
    return _schema_from_types(declared)


def resolve(schema: Schema, root: Schema) -> Schema:
    """Follow `$ref` (`#/$defs/Inner`) and an `allOf` of one; what leads nowhere allows anything."""
    for _ in range(_HOPS):
        reference, parts = schema.get("$ref"), schema.get("allOf")
        if isinstance(reference, str):
            found: Json = dict(root)
            for step in reference.removeprefix("#/").split("/"):
                found = found.get(step) if isinstance(found, dict) else None
            schema = found if isinstance(found, dict) else {}
        elif isinstance(parts, list) and len(parts) == 1 and isinstance(parts[0], dict):
            schema = parts[0]
        else:
            return schema
    return {}


def choices(schema: Schema, root: Schema) -> list[Schema]:
    """The alternatives of a resolved schema; empty where there is only one way."""
    names = schema.get("type")
    if isinstance(names, list):
        return [{**schema, "type": name} for name in names]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return [resolve(part, root) for part in parts_of(schema, key)]
    return []


def parts_of(schema: Schema, key: str) -> list[Schema]:
    parts = schema.get(key)
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def names_in(schema: Schema, key: str) -> list[str]:
    names = schema.get(key)
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def fields_of(schema: Schema) -> list[tuple[str, Schema]]:
    """Required fields in the order of their declaration, the others by name (a protobuf map keeps no order)."""
    properties = part_of(schema, "properties")
    required = [name for name in names_in(schema, "required") if name in properties]
    return [(name, part_of(properties, name)) for name in [*required, *sorted(properties.keys() - set(required))]]


def part_of(schema: Schema, key: str) -> Schema:
    """A schema inside a schema; the empty one, which allows anything, where there is none."""
    part = schema.get(key)
    return part if isinstance(part, dict) else {}


def schema_name(schema: Schema, root: Schema) -> str:
    """How a person would call it: `int`, `list[float]`, `Inner`, `int | None`, `one of "red", "green"`."""
    schema = resolve(schema, root)
    if alternatives := choices(schema, root):
        return " | ".join(schema_name(choice, root) for choice in alternatives)
    title, kind, form = schema.get("title"), schema.get("type"), schema.get("format")
    if kind == "object" and isinstance(title, str):
        return title
    values = schema.get("enum")
    if isinstance(values, list):
        return f"enum({'|'.join(map(str, values))})"
    if kind == "array" and (items := part_of(schema, "items")):
        return f"list[{schema_name(items, root)}]"
    if kind == "object" and (items := part_of(schema, "additionalProperties")):
        return f"dict[str, {schema_name(items, root)}]"
    return _FORMATS.get(str(form)) or _NAMES.get(str(kind), "a value")


def _schema_from_types(declared: LiteralType) -> Schema:
    match declared.WhichOneof("type"):
        case "simple" if declared.simple in _SIMPLE:
            return _SIMPLE[declared.simple]
        case "simple" if declared.structure.dataclass_type:
            fields = declared.structure.dataclass_type
            return {"type": "object", "properties": {name: dict(schema_of(field)) for name, field in fields.items()}}
        case "simple":
            return {"type": "object"}
        case "collection_type":
            return {"type": "array", "items": dict(schema_of(declared.collection_type))}
        case "map_value_type":
            return {"type": "object", "additionalProperties": dict(schema_of(declared.map_value_type))}
        case "union_type":
            return {"anyOf": [dict(schema_of(variant)) for variant in declared.union_type.variants]}
        case "enum_type":
            return {"enum": list(declared.enum_type.values)}
    return {}
