"""Strategies: flyteidl literals of any shape, and bytes that almost are one."""

from __future__ import annotations

from typing import Any

from flyteidl.core import literals_pb2 as pb
from flyteidl.core import types_pb2
from hypothesis import strategies as st

primitives = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(lambda it: pb.Primitive(integer=it)),
    st.floats(allow_nan=False).map(lambda it: pb.Primitive(float_value=it)),
    st.text(max_size=200).map(lambda it: pb.Primitive(string_value=it)),
    st.booleans().map(lambda it: pb.Primitive(boolean=it)),
)
scalars = st.one_of(
    primitives.map(lambda it: pb.Scalar(primitive=it)),
    st.just(pb.Scalar(none_type=pb.Void())),
    st.binary(max_size=40).map(lambda it: pb.Scalar(binary=pb.Binary(value=it, tag="msgpack"))),
)
references = st.builds(
    lambda uri, size: pb.LiteralOffloadedMetadata(uri=uri, size_bytes=size),
    st.text(min_size=1, max_size=9),
    st.integers(0, 99),
)


def _containers(inner: st.SearchStrategy[pb.Literal]) -> st.SearchStrategy[pb.Literal]:
    return st.one_of(
        st.lists(inner, max_size=4).map(lambda it: pb.Literal(collection=pb.LiteralCollection(literals=it))),
        st.dictionaries(st.text(max_size=3), inner, max_size=3).map(
            lambda it: pb.Literal(map=pb.LiteralMap(literals=it))
        ),
        inner.map(
            lambda it: pb.Literal(
                scalar=pb.Scalar(union=pb.Union(value=it, type=types_pb2.LiteralType(simple="STRING")))
            )
        ),
    )


plain_leaves = st.one_of(
    scalars.map(lambda it: pb.Literal(scalar=it)),
    st.builds(lambda it, mark: pb.Literal(scalar=it, hash=mark), scalars, st.text(max_size=4)),
)
leaves = plain_leaves | references.map(lambda it: pb.Literal(offloaded_metadata=it))
literals: st.SearchStrategy[pb.Literal] = st.recursive(leaves, _containers, max_leaves=8)
literals_without_references: st.SearchStrategy[pb.Literal] = st.recursive(plain_leaves, _containers, max_leaves=8)


@st.composite
def mangled(draw: st.DrawFn, messages: st.SearchStrategy[Any]) -> bytes:
    """Serialized messages, some of them concatenated, cut, or with bytes changed."""
    data = b"".join(it.SerializeToString() for it in draw(st.lists(messages, min_size=1, max_size=3)))
    changed = bytearray(data)
    for _ in range(draw(st.integers(0, 3))):
        if changed:
            changed[draw(st.integers(0, len(changed) - 1))] = draw(st.integers(0, 255))
    if draw(st.booleans()):
        return bytes(changed)
    return bytes(changed[: draw(st.integers(0, len(changed)))])
