"""Resolving bindings: from what an author bound to the literals an attempt receives.

A value that is only passed on is never parsed: its bytes go from one map into the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from engine.data.attributes import BadStep, walk
from engine.data.bindings import Constant, ListOf, MapOf, Part, Promise, compiled, promises
from engine.data.failures import failure_literal
from engine.data.framing import CorruptMessage, Data
from engine.data.literals import collection, entries, literal_map, map_literal
from engine.data.recent import read_maps
from engine.data.references import lifted
from engine.model.errors import Defect, ErrorKind, Failure, Permanent, StoreRefused
from engine.model.graph import START_NODE, Binding
from engine.ports.blobstore import BlobStore

CODE = "BindingResolutionFailure"
COPIED = 4096
"""Bytes; of what is larger no part is copied."""


async def resolve(blobs: BlobStore, bindings: Sequence[Binding], sources: Mapping[str, str]) -> bytes:
    """The inputs that the bindings give: a serialized `LiteralMap`, keys sorted. Every source is read once.

    Raises Permanent with code BindingResolutionFailure: USER where an index or key is wrong, SYSTEM where an output is
    missing or unreadable. A Transient of the store stays one.
    """
    parts, nodes = _recipe(tuple(bindings))
    values = await _read(blobs, nodes, sources)
    times = {binding.variable for binding in bindings if binding.times}
    return literal_map(
        {name: await _Resolver(blobs, values, name, name in times).literal(part) for name, part in parts.items()}
    )


def _part(binding: Binding) -> Part:
    return compiled(binding.data) if binding.failure is None else Constant(failure_literal(binding))


@lru_cache(maxsize=1024)
def _recipe(bindings: tuple[Binding, ...]) -> tuple[Mapping[str, Part], Sequence[str]]:
    """What each input is made of, and the nodes whose outputs that takes."""
    parts = {binding.variable: _part(binding) for binding in bindings}
    return parts, sorted({promise.node for promise in promises(list(parts.values()))})


async def _read(blobs: BlobStore, nodes: Sequence[str], sources: Mapping[str, str]) -> dict[str, dict[str, Data]]:
    """Node id -> its outputs."""
    unknown = [node for node in nodes if node not in sources]
    if unknown:
        raise Defect(f"no outputs are known of {', '.join(unknown)}, which a binding reads from")
    uris = sorted({sources[node] for node in nodes if sources[node]})
    try:
        found = await read_maps(blobs, uris)
    except StoreRefused as problem:
        raise _failed(ErrorKind.SYSTEM, f"OutputsNotFoundError: {problem}") from problem
    values: dict[str, dict[str, Data]] = {}
    for node in nodes:
        uri = sources[node]
        data = found[uri] if uri else b""
        if data is None:
            raise _failed(
                ErrorKind.SYSTEM, f"OutputsNotFoundError: the outputs of {_named(node)} are gone: no object at {uri}"
            )
        try:
            values[node] = entries(memoryview(data) if len(data) > COPIED else data)
        except CorruptMessage as problem:
            raise _failed(
                ErrorKind.SYSTEM,
                f"OutputsNotFoundError: the outputs of {_named(node)} at {uri} can't be read: {problem}",
            ) from problem
    return values


class _Resolver:
    def __init__(
        self, blobs: BlobStore, values: Mapping[str, Mapping[str, Data]], variable: str, times: bool = False
    ) -> None:
        self.blobs, self.values, self.variable, self.times = blobs, values, variable, times

    async def literal(self, part: Part) -> Data:
        match part:
            case Constant(literal=literal):
                return literal
            case Promise():
                return await self._promised(part)
            case ListOf(parts=parts):
                return collection([await self.literal(item) for item in parts])
            case MapOf(parts=named):
                return map_literal({key: await self.literal(value) for key, value in named.items()})

    async def _promised(self, promise: Promise) -> Data:
        outputs = self.values[promise.node]
        found = outputs.get(promise.variable)
        if found is None:
            there = ", ".join(sorted(outputs)) or "nothing"
            message = (
                f"OutputsNotFoundError: input {self.variable!r}: {_named(promise.node)} has no value "
                f"{promise.variable!r}; there is: {there}"
            )
            raise _failed(ErrorKind.SYSTEM, message)
        try:
            return lifted(await walk(self.blobs, found, promise.path, packed=self.times) if promise.path else found)
        except BadStep as problem:
            raise _failed(ErrorKind.USER, f"{problem.code}: input {self.variable!r}: {promise}: {problem}") from problem
        except CorruptMessage as problem:
            message = f"PromiseAttributeResolveError: input {self.variable!r}: {promise} can't be read: {problem}"
            raise _failed(ErrorKind.SYSTEM, message) from problem


def _named(node: str) -> str:
    return "the workflow" if node == START_NODE else f"node {node}"


def _failed(kind: ErrorKind, message: str) -> Permanent:
    return Permanent(Failure(code=CODE, kind=kind, message=message))
