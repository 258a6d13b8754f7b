"""A node as far as it is compiled, and what its bindings refer to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from flyteidl.core.literals_pb2 import BindingData
from flyteidl.core.types_pb2 import LiteralType, OutputReference, SimpleType
from flyteidl.core.workflow_pb2 import Node
from msgspec import structs

from engine.model.graph import START_NODE, Binding, NodeSpec
from engine.wire.interfaces import NodeInterface

UNKNOWN = NodeInterface()


@dataclass(frozen=True, slots=True)
class Built:
    """A compiled node. `wrong` tells how it contradicts the package, `lacks` what this engine has not got for it."""

    message: Node
    spec: NodeSpec
    interface: NodeInterface = UNKNOWN
    wrong: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    bodies: tuple[Built, ...] = ()
    """The nodes that a branch chooses from; their promises are those of the outer graph."""


def bindings_of(given: Iterable[tuple[str, BindingData]]) -> tuple[Binding, ...]:
    """Canonical bytes of each binding, in the order of the declaration."""
    return tuple(Binding(name, data.SerializeToString(deterministic=True)) for name, data in given)


def with_times(bindings: Iterable[Binding], types: Mapping[str, bytes | None] | None) -> tuple[Binding, ...]:
    """Tell each binding whether its declared type holds a time. `types`: serialized `LiteralType`s by variable."""
    known = types or {}
    return tuple(
        structs.replace(binding, times=True) if _holds_time(known.get(binding.variable)) else binding
        for binding in bindings
    )


@lru_cache(maxsize=1024)
def _holds_time(kind: bytes | None) -> bool:
    left = [LiteralType.FromString(kind)] if kind else []
    while left:
        found = left.pop()
        match found.WhichOneof("type"):
            case "simple":
                if found.simple in (SimpleType.DATETIME, SimpleType.DURATION):
                    return True
            case "collection_type":
                left.append(found.collection_type)
            case "map_value_type":
                left.append(found.map_value_type)
            case "union_type":
                left += found.union_type.variants
    return False


def promises(binding: BindingData) -> Iterator[OutputReference]:
    """Every promise inside a binding, to any depth."""
    match binding.WhichOneof("value"):
        case "promise":
            yield binding.promise
        case "collection":
            for item in binding.collection.bindings:
                yield from promises(item)
        case "map":
            for value in binding.map.bindings.values():
                yield from promises(value)


def source_ids(bindings: Iterable[BindingData]) -> tuple[str, ...]:
    """The node ids that bindings read from, sorted; START_NODE stands for the workflow's inputs."""
    return tuple(sorted({promise.node_id or START_NODE for data in bindings for promise in promises(data)}))
