"""The value that a failure node is told: flytekit's FlyteError.

Flyte 1 puts the failure node's own id into it; here it is the path of the node that failed first.
"""

from __future__ import annotations

from flyteidl.core import literals_pb2, types_pb2

from engine.model.graph import Binding

_TYPE = types_pb2.LiteralType(simple=types_pb2.ERROR, structure=types_pb2.TypeStructure(tag="FlyteError"))


def failure_literal(binding: Binding) -> bytes:
    """The serialized `Literal` of the failure that a binding carries, in a union: the input is an Optional."""
    failure = binding.failure
    assert failure is not None
    error = types_pb2.Error(failed_node_id=failure.node, message=failure.message)
    union = literals_pb2.Union(value=literals_pb2.Literal(scalar=literals_pb2.Scalar(error=error)), type=_TYPE)
    literal = literals_pb2.Literal(scalar=literals_pb2.Scalar(union=union))
    return bytes(literal.SerializeToString(deterministic=True))
