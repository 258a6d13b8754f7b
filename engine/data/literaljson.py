"""Literals as flytekit's canonical JSON: protobuf's JSON form, keys sorted, no spaces; a hash in its value's place."""

from __future__ import annotations

import json
import math

from flyteidl.core import literals_pb2
from google.protobuf import json_format, message

from engine.data.framing import CorruptMessage, Data

Tree = dict[str, object]


def of_literal(data: Data) -> str:
    """Of a serialized `Literal`. Raises CorruptMessage, as all here."""
    try:
        return _text(literals_pb2.Literal.FromString(bytes(data)))
    except (message.DecodeError, json_format.Error) as problem:
        raise CorruptMessage(f"a literal has no JSON form: {problem}") from problem


def of_items(data: Data) -> str:
    """Of the items of a serialized `LiteralCollection`, with commas between them."""
    try:
        items = literals_pb2.LiteralCollection.FromString(bytes(data)).literals
        return ",".join(map(_text, items))
    except (message.DecodeError, json_format.Error) as problem:
        raise CorruptMessage(f"a list has no JSON form: {problem}") from problem


def of_message(made: message.Message) -> str:
    try:
        return dumped(json_format.MessageToDict(made))
    except json_format.Error as problem:
        raise CorruptMessage(f"a {made.DESCRIPTOR.name} has no JSON form: {problem}") from problem


def dumped(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _text(literal: literals_pb2.Literal) -> str:
    """Of plain values, which most are, without the general way's cost."""
    primitive = literal.scalar.primitive
    kind = primitive.WhichOneof("value")
    if kind in _PLAIN and not literal.hash and not literal.metadata:
        value = getattr(primitive, kind)
        match kind:
            case "string_value":
                return f'{{"scalar":{{"primitive":{{"stringValue":{_quoted(value)}}}}}}}'
            case "integer":
                return f'{{"scalar":{{"primitive":{{"integer":"{value}"}}}}}}'
            case _ if math.isfinite(value):
                return f'{{"scalar":{{"primitive":{{"floatValue":{value!r}}}}}}}'
    return dumped(_tree(literal))


_PLAIN = ("string_value", "integer", "float_value")
_quoted = json.encoder.encode_basestring_ascii


def _tree(literal: literals_pb2.Literal) -> Tree:
    if literal.hash:
        return {"hash": literal.hash}
    kind = literal.WhichOneof("value")
    if kind == "scalar":
        tree = _scalar(literal)
    elif kind == "collection":
        tree = {"collection": _held("literals", [_tree(item) for item in literal.collection.literals])}
    elif kind == "map":
        tree = {"map": _held("literals", {key: _tree(value) for key, value in literal.map.literals.items()})}
    else:
        return dict(json_format.MessageToDict(literal))
    if literal.metadata:
        tree["metadata"] = dict(literal.metadata)
    return tree


def _held(name: str, values: object) -> Tree:
    """protobuf leaves out what is empty."""
    return {name: values} if values else {}


def _scalar(literal: literals_pb2.Literal) -> Tree:
    scalar = literal.scalar
    kind = scalar.WhichOneof("value")
    if kind == "union":
        union = scalar.union
        made: Tree = {}
        if union.HasField("value"):
            made["value"] = _tree(union.value)
        if union.HasField("type"):
            made["type"] = json_format.MessageToDict(union.type)
        return {"scalar": {"union": made}}
    return {"scalar": json_format.MessageToDict(scalar)}


def escaped(text: str) -> str:
    """Text as it stands between the quotes of a JSON string."""
    return json.dumps(text)[1:-1]
