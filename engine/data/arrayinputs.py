"""Which inputs of a map node are mapped, and where the items of each lie.

Mapped is every list but those that the author bound to all elements; anything else goes to every element as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flyteidl.core import types_pb2
from msgspec import Struct

from engine.data.attributes import counted
from engine.data.literals import UNION, UNION_VALUE, Held, Kind, entry
from engine.data.references import open_list, reference_of
from engine.data.stored import BLOCK, Reader, StoredList, held_spans, map_spans, scan_list
from engine.model.errors import ErrorKind, Failure, Permanent
from engine.model.graph import LaunchPlanSpec, NodeSpec, TaskSpec
from engine.ports.blobstore import BlobStore

Target = TaskSpec | LaunchPlanSpec
"""What is mapped over."""


class ArrayInputs(Struct, frozen=True):
    whole: bytes
    """Entries of the inputs that every element gets as they are."""
    mapped: Mapping[str, StoredList]
    size: int
    """Elements."""

    @property
    def weight(self) -> int:
        return len(self.whole) + sum(items.weight for items in self.mapped.values())


async def read_array_inputs(blobs: BlobStore, spec: NodeSpec, target: Target, uri: str) -> ArrayInputs:
    """Look through the stored inputs of a map node; the items are found, not read.

    Raises Permanent: USER (InvalidArrayLength) where the lists don't go together, SYSTEM for a reference that leads
    nowhere; BlobNotFound, CorruptMessage, Transient.
    """
    head = await blobs.get(uri, 0, BLOCK)
    size = len(head) if len(head) < BLOCK else await blobs.size(uri) or 0
    bound = spec.array.bound_inputs if spec.array is not None else frozenset()
    lists: dict[str, StoredList] = {}
    whole = []
    reader = Reader(blobs, uri, head)
    spans = await map_spans(reader, size)
    for name, (start, end) in spans.items():
        items = None
        if name not in bound:
            items = await _items(blobs, spec, target, name, Reader(blobs, uri, head), (start, end))
        if items is None:
            whole.append(entry(name, await reader.read(start, end)))
        else:
            lists[name] = items
    return ArrayInputs(b"".join(whole), lists, _size(lists, every_bound=all(name in bound for name in spans)))


async def _items(
    blobs: BlobStore, spec: NodeSpec, target: Target, name: str, reader: Reader, span: tuple[int, int]
) -> StoredList | None:
    """The items of an input that is to be mapped, or None for one that is not."""
    declared = target.interface.inputs.get(name, b"")
    value_decides = spec.array is not None and spec.array.original_interface
    if not value_decides and not _may_be_list(declared):
        return None
    start, end, found = await _without_union(reader, *span)
    if found.kind is Kind.COLLECTION:
        return await scan_list(reader, found.spans)
    items = None
    if found.kind is Kind.REFERENCE:
        reference = reference_of(await reader.read(start, end))
        assert reference is not None
        if not reference.inferred_type or _may_be_list(reference.inferred_type):
            items = await open_list(blobs, reference)
    if items is None and not value_decides and _is_list(declared):
        raise _invalid(f"input {name!r} of {target.id} is mapped, but its value is no list")
    return items


async def _without_union(reader: Reader, start: int, end: int) -> tuple[int, int, Held]:
    """The literal inside a union (an `Optional` list) and what it holds; any other literal as it is."""
    while True:
        found = await held_spans(reader, start, end)
        inner = None
        if found.kind is Kind.SCALAR:
            for first, last in found.spans:
                inner = await _last(reader, UNION, first, last)
        value = await _last(reader, UNION_VALUE, *inner) if inner else None
        if value is None:
            return start, end, found
        start, end = value


async def _last(reader: Reader, wanted: int, start: int, end: int) -> tuple[int, int] | None:
    found = None
    async for tag, _, value, last in reader.fields(start, end):
        found = (value, last) if tag == wanted else found
    return found


def _size(lists: Mapping[str, StoredList], *, every_bound: bool) -> int:
    if not lists:
        if every_bound:
            return 1
        raise _invalid("no input array provided: none of the inputs that are not bound is a list")
    (first, items), *others = lists.items()
    for name, more in others:
        if len(more) != len(items):
            raise _invalid(
                f"input arrays have different lengths: {first!r} has {counted(len(items))}, "
                f"{name!r} has {counted(len(more))}"
            )
    return len(items)


def _is_list(declared: bytes) -> bool:
    return _types(declared) == ["collection_type"]


def _may_be_list(declared: bytes) -> bool:
    return "collection_type" in _types(declared)


def _types(declared: bytes) -> list[str]:
    """The kinds of a serialized `LiteralType`; those of its variants for a union."""
    return list(_kinds(types_pb2.LiteralType.FromString(declared)))


def _kinds(declared: types_pb2.LiteralType) -> Iterable[str]:
    kind = declared.WhichOneof("type")
    if kind != "union_type":
        return [kind or ""]
    return [inner for variant in declared.union_type.variants for inner in _kinds(variant)]


def _invalid(message: str) -> Permanent:
    return Permanent(Failure(code="InvalidArrayLength", kind=ErrorKind.USER, message=message))
