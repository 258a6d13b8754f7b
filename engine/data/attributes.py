"""What `promise[2]`, `promise["key"]` and `promise.name` stand for: a walk from a literal down to a part of it.

Lists and maps are walked by framing, msgpack and Struct values are decoded, unions are looked through, and a reference
is fetched: of an offloaded list only the item.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgpack
from flyteidl.core import literals_pb2
from google.protobuf import struct_pb2
from google.protobuf.message import DecodeError

from engine.data.bindings import Step
from engine.data.framing import CorruptMessage, Data
from engine.data.literals import NONE, Kind, collection, entries, items, shape, unwrapped
from engine.data.references import open_list, read_reference, readable, reference_of
from engine.ports.blobstore import BlobStore

MSGPACK = "msgpack"
_INTEGERS = range(-(2**63), 2**63)


class BadStep(Exception):
    """A step can't be taken: says which and why. `code` is Flyte's name for it."""

    def __init__(self, reason: str, code: str = "PromiseAttributeResolveError") -> None:
        super().__init__(reason)
        self.code = code


async def walk(blobs: BlobStore, literal: Data, path: Sequence[Step], *, packed: bool = False) -> Data:
    """The literal at the end of the path. `packed`: what lies inside a msgpack value stays one.

    Raises BadStep, CorruptMessage, Transient; Permanent where a reference leads nowhere.
    """
    for done, step in enumerate(path):
        literal = unwrapped(literal)
        reference = reference_of(literal)
        if reference is not None:
            stored = await open_list(blobs, reference) if isinstance(step, int) else None
            if stored is not None and isinstance(step, int):
                with readable(reference.uri):
                    literal = await stored.item(position(step, len(stored)))
                continue
            literal = unwrapped(await read_reference(blobs, reference))
        whole = shape(literal)
        if whole.kind is Kind.COLLECTION:
            found = items(whole.payload)
            literal = found[position(step, len(found))]
        elif whole.kind is Kind.MAP:
            literal = _value_at(entries(whole.payload), step)
        elif whole.kind is Kind.SCALAR:
            return _inside_scalar(whole.payload, path[done:], packed=packed)
        else:
            raise BadStep(f"{step!r} can't be looked up in an empty value")
    return literal


def position(step: Step, length: int) -> int:
    """The index a step means in a list; a negative one counts from the end, as in Python."""
    if not isinstance(step, int):
        raise BadStep(f"key {step!r} was asked of a list, which has {counted(length)}")
    if not -length <= step < length:
        raise BadStep(f"index {step} is out of range: the list has {counted(length)}")
    return step % length


def counted(length: int) -> str:
    """The length of a list, for people."""
    return "1 item" if length == 1 else f"{length or 'no'} items"


def _value_at(values: dict[str, Data], step: Step) -> Data:
    if not isinstance(step, str):
        raise BadStep(f"index {step} was asked of a map, which has text keys: {_some(values)}")
    if step not in values:
        raise BadStep(f"key {step!r} is not in the map, which has: {_some(values)}")
    return values[step]


def _some(keys: Sequence[object] | dict[Any, Any], most: int = 20) -> str:
    """Sorted: a protobuf map has no order of its own."""
    shown = ", ".join(sorted(map(repr, keys))[:most])
    return (shown or "no keys") + (f" and {len(keys) - most} more" if len(keys) > most else "")


def _inside_scalar(payload: Data, path: Sequence[Step], *, packed: bool) -> bytes:
    """The rest of the path inside a value that is one scalar for protobuf."""
    try:
        scalar = literals_pb2.Scalar.FromString(bytes(payload))
        kind = scalar.WhichOneof("value") or "nothing"
        if kind == "binary" and scalar.binary.tag == MSGPACK:
            found = _inside(msgpack.unpackb(scalar.binary.value, strict_map_key=False), path)
            return _binary(found) if packed and isinstance(found, str | int | float) else _from_msgpack(found)
    except (DecodeError, ValueError, msgpack.UnpackException) as problem:
        raise CorruptMessage(str(problem)) from problem
    if kind == "generic":
        return _from_struct(_inside(_plain(struct_pb2.Value(struct_value=scalar.generic)), path))
    what = f"binary data with tag {scalar.binary.tag!r}" if kind == "binary" else f"a {kind.replace('_', ' ')} value"
    raise BadStep(f"{path[0]!r} can't be looked up in {what}")


def _plain(value: struct_pb2.Value) -> Any:
    match value.WhichOneof("kind"):
        case "struct_value":
            return {key: _plain(inner) for key, inner in value.struct_value.fields.items()}
        case "list_value":
            return [_plain(item) for item in value.list_value.values]
        case "number_value":
            return value.number_value
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
    return None


def _inside(value: Any, path: Sequence[Step]) -> Any:
    for step in path:
        if isinstance(value, list):
            value = value[position(step, len(value))]
        elif isinstance(value, dict):
            if step not in value:
                raise BadStep(f"key {step!r} is not there; there are: {_some(value)}")
            value = value[step]
        else:
            raise BadStep(f"{step!r} can't be looked up in a value of type {type(value).__name__}")
    return value


def _from_msgpack(value: Any) -> bytes:
    """Plain values become primitives; a list becomes a list of msgpack values, so that it can be mapped over."""
    if isinstance(value, list):
        return collection(_binary(item) for item in value)
    return _binary(value) if isinstance(value, dict) else _primitive(value)


def _binary(value: Any) -> bytes:
    binary = literals_pb2.Binary(value=msgpack.packb(value), tag=MSGPACK)
    return bytes(literals_pb2.Literal(scalar=literals_pb2.Scalar(binary=binary)).SerializeToString())


def _from_struct(value: Any) -> bytes:
    """Struct knows numbers only as floats; so they stay."""
    if isinstance(value, list):
        return collection(_from_struct(item) for item in value)
    if isinstance(value, dict):
        generic = struct_pb2.Struct()
        generic.update(value)
        return bytes(literals_pb2.Literal(scalar=literals_pb2.Scalar(generic=generic)).SerializeToString())
    return _primitive(value)


def _primitive(value: Any) -> bytes:
    match value:
        case None:
            return NONE
        case bool():
            primitive = literals_pb2.Primitive(boolean=value)
        case int() if value in _INTEGERS:
            primitive = literals_pb2.Primitive(integer=value)
        case int():
            raise BadStep(f"the number {value} does not fit into a 64-bit integer", "InvalidPrimitiveType")
        case float():
            primitive = literals_pb2.Primitive(float_value=value)
        case str():
            primitive = literals_pb2.Primitive(string_value=value)
        case _:
            raise BadStep(f"a value of type {type(value).__name__} can't be passed on as an input")
    return bytes(literals_pb2.Literal(scalar=literals_pb2.Scalar(primitive=primitive)).SerializeToString())
