from __future__ import annotations

import pytest
from flyteidl.core.literals_pb2 import Literal, LiteralMap, Primitive, Scalar

from engine.model.errors import BadInput
from engine.wire.natural import natural_map

TWO = LiteralMap(
    literals={name: Literal(scalar=Scalar(primitive=Primitive(string_value=name * 9))) for name in ("b", "a")}
).SerializeToString()


def test_a_literal_map_by_name() -> None:
    assert list(natural_map(TWO).items()) == [("a", "aaaaaaaaa"), ("b", "bbbbbbbbb")]


def test_no_bytes_are_an_empty_map() -> None:
    assert natural_map(b"") == {}


def test_truncated_bytes() -> None:
    with pytest.raises(BadInput, match=rf"^outputs.pb of n0: {len(TWO) - 3} bytes that are no LiteralMap"):
        natural_map(TWO[:-3], "outputs.pb of n0")
