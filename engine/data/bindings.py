"""Binding data, compiled once: what an input is made of, without flyteidl objects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from flyteidl.core import literals_pb2, types_pb2
from google.protobuf.message import DecodeError
from msgspec import Struct

from engine.data.literals import NONE
from engine.model.errors import Defect
from engine.model.graph import START_NODE

Step = str | int
_ITEM_OF = re.compile(r"\[(\d+)\]\.(.+)\Z", re.DOTALL)
"""Flyte's older way to bind one item of a list output: `[3].o0`."""


class Constant(Struct, frozen=True):
    literal: bytes


class Promise(Struct, frozen=True):
    node: str
    """START_NODE = the workflow's inputs."""
    variable: str
    path: tuple[Step, ...] = ()

    def __str__(self) -> str:
        where = f"workflow input {self.variable}" if self.node == START_NODE else f"{self.node}.{self.variable}"
        return where + "".join(f"[{step!r}]" for step in self.path)


class ListOf(Struct, frozen=True):
    parts: tuple[Part, ...]


class MapOf(Struct, frozen=True):
    parts: Mapping[str, Part]


Part = Constant | Promise | ListOf | MapOf


@lru_cache(maxsize=1024)
def compiled(data: bytes) -> Part:
    """A serialized `BindingData` as a Part."""
    try:
        return _part(literals_pb2.BindingData.FromString(data))
    except DecodeError as problem:
        raise Defect(f"a binding of a registered workflow can't be read: {problem}") from problem


def promises(parts: Sequence[Part]) -> Iterator[Promise]:
    """Every promise in these parts."""
    left = list(parts)
    while left:
        match left.pop():
            case Promise() as promise:
                yield promise
            case ListOf(parts=parts):
                left += parts
            case MapOf(parts=named):
                left += named.values()


def _part(data: literals_pb2.BindingData) -> Part:
    """The union information that may stand beside a value is a hint about types; no union is made of it."""
    match data.WhichOneof("value"):
        case "scalar":
            return Constant(literals_pb2.Literal(scalar=data.scalar).SerializeToString(deterministic=True))
        case "offloaded_metadata":
            literal = literals_pb2.Literal(offloaded_metadata=data.offloaded_metadata)
            return Constant(literal.SerializeToString(deterministic=True))
        case "collection":
            return ListOf(tuple(_part(item) for item in data.collection.bindings))
        case "map":
            return MapOf({key: _part(value) for key, value in data.map.bindings.items()})
        case "promise":
            return _promise(data.promise)
    return Constant(NONE)


def _promise(promise: types_pb2.OutputReference) -> Promise:
    path = tuple(
        step.int_value if step.WhichOneof("value") == "int_value" else step.string_value for step in promise.attr_path
    )
    old = _ITEM_OF.match(promise.var)
    variable, path = (old[2], (int(old[1]), *path)) if old else (promise.var, path)
    return Promise(promise.node_id or START_NODE, variable, path)
