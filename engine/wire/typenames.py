"""Short names of flyteidl types, for help and error messages: `list[str]`, `datetime | None`, `enum(red|green)`."""

from __future__ import annotations

import re

from flyteidl.core.types_pb2 import BlobType, LiteralType, SimpleType

_SIMPLE = {
    SimpleType.NONE: "None",
    SimpleType.INTEGER: "int",
    SimpleType.FLOAT: "float",
    SimpleType.STRING: "str",
    SimpleType.BOOLEAN: "bool",
    SimpleType.DATETIME: "datetime",
    SimpleType.DURATION: "duration",
    SimpleType.BINARY: "bytes",
    SimpleType.ERROR: "error",
}
PICKLE = "PythonPickle"
"""`BlobType.format` of a type that flytekit knows no other way for."""
PROTOBUF_NAME = "pb_type"
"""Key of a STRUCT's metadata that names the protobuf message flytekit reads it into."""
_SHOWN_ENUM = 8
_CLASS = re.compile(r"<class '(.*)'>\Z")


def type_name(declared: LiteralType) -> str:
    """How a person would write this type. An enum has its values only: flytekit does not pass its name on."""
    match declared.WhichOneof("type"):
        case "simple":
            return _SIMPLE.get(declared.simple) or _struct_name(declared)
        case "collection_type":
            return f"list[{type_name(declared.collection_type)}]"
        case "map_value_type":
            return f"dict[str, {type_name(declared.map_value_type)}]"
        case "union_type":
            return " | ".join(dict.fromkeys(type_name(variant) for variant in declared.union_type.variants))
        case "enum_type":
            values = list(declared.enum_type.values)
            more = ["…"] if len(values) > _SHOWN_ENUM else []
            return f"enum({'|'.join([*values[:_SHOWN_ENUM], *more])})"
        case "blob":
            return _blob_name(declared)
        case "schema":
            return "schema"
        case "structured_dataset_type":
            return "structured dataset"
    return "undeclared"


def is_pickle(declared: LiteralType) -> bool:
    return declared.WhichOneof("type") == "blob" and declared.blob.format == PICKLE


def _struct_name(declared: LiteralType) -> str:
    """The title of its schema, or the protobuf message it stands for."""
    message = _metadata(declared, PROTOBUF_NAME).rpartition(".")[2]
    return _metadata(declared, "title") or message or "dict"


def _blob_name(declared: LiteralType) -> str:
    if is_pickle(declared):
        python = _CLASS.sub(r"\1", _metadata(declared, "python_class_name")) or "object"
        return f"pickle[{python}]"
    kind = "directory" if declared.blob.dimensionality == BlobType.MULTIPART else "file"
    return f"{kind}[{declared.blob.format}]" if declared.blob.format else kind


def _metadata(declared: LiteralType, key: str) -> str:
    fields = declared.metadata.fields
    return fields[key].string_value if key in fields else ""
