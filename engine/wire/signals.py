"""The value of a signal, as a gate takes it: a serialized `Literal` of the type that the gate's author declared."""

from __future__ import annotations

from flyteidl.core.literals_pb2 import Literal
from flyteidl.core.types_pb2 import LiteralType, SimpleType
from google.protobuf.message import DecodeError

from engine.model.errors import BadInput
from engine.model.graph import GateKind, GateSpec
from engine.wire.casting import castable
from engine.wire.inference import literal_type
from engine.wire.literals import to_literal
from engine.wire.typenames import type_name

_BOOLEAN = LiteralType(simple=SimpleType.BOOLEAN)


def signal_type(gate: GateSpec) -> LiteralType:
    """The type of the value that a gate waits for: an approval's is a boolean."""
    return LiteralType.FromString(gate.type) if gate.kind is GateKind.SIGNAL else _BOOLEAN


def typed_signal(gate: GateSpec, value: object) -> bytes:
    """The serialized `Literal` of a value for a gate; a `str` is text that a person typed. Raises BadInput."""
    return to_literal(value, signal_type(gate), f"signal {gate.signal_id!r}").SerializeToString(deterministic=True)


def read_signal(gate: GateSpec, value: bytes) -> Literal:
    """The literal, which fits the gate. Raises BadInput where it does not."""
    try:
        literal = Literal.FromString(value)
    except DecodeError as problem:
        raise BadInput(f"its value is no literal: {problem}") from problem
    declared = signal_type(gate)
    if literal.WhichOneof("value") is None:
        raise BadInput(f"its value is empty, expected {type_name(declared)}")
    found = literal_type(literal)
    if not castable(found, declared):
        raise BadInput(f"its value is {type_name(found)}, expected {type_name(declared)}")
    return literal


def is_approval(gate: GateSpec, value: bytes) -> bool:
    """What an approval says. Raises BadInput for a value that is no boolean."""
    return read_signal(gate, value).scalar.primitive.boolean


def typed(gate: GateSpec) -> str:
    """`the signal 'how-many' (int)`, `the approval 'sure'`."""
    if gate.kind is GateKind.APPROVE:
        return f"the approval {gate.signal_id!r}"
    return f"the signal {gate.signal_id!r} ({type_name(signal_type(gate))})"
