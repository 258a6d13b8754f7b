from __future__ import annotations

from google.protobuf import json_format

from engine.wire.literals import to_literal
from engine.wire.natural import natural
from tests.literal_types import INNER, record


def test_a_type_without_the_msgpack_annotation_is_written_as_a_struct() -> None:
    literal = to_literal({"a": 1}, record(INNER, annotation=None), "--c")
    assert json_format.MessageToDict(literal.scalar.generic) == {"a": 1.0, "b": 1.5}
    assert natural(literal) == {"a": 1, "b": 1.5}


def test_a_protobuf_message_is_written_as_a_struct() -> None:
    literal = to_literal(
        '{"k": [true]}', record({"pb_type": "google.protobuf.struct_pb2.Struct"}, annotation=None), "--c"
    )
    assert literal.scalar.WhichOneof("value") == "generic"
    assert natural(literal) == {"k": [True]}
