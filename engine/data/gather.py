"""GatherOutputs: the outputs of a map node from those of its elements, in order, in constant memory.

The judge has added up what the elements' literals take, so every header is known before the first byte is written.
Should the sum be wrong, the elements are measured and written again: the result is never short and never misaligned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from flyteidl.core import types_pb2

from engine.data.collected import NO_VALUE, Batch, Collected
from engine.data.framing import framed_size, header
from engine.data.literals import Kind, entry, entry_header
from engine.data.offload import index_name, is_offloaded, value_name
from engine.data.references import Reference, reference_literal
from engine.data.stored import packed
from engine.model import layout
from engine.model.effects import GatherOutputs
from engine.model.errors import Transient
from engine.model.graph import Interface, LaunchPlanSpec, NodeSpec
from engine.model.limits import OffloadLimits
from engine.ports.blobstore import BlobStore, BlobWriter


class _SizesDiffer(Transient):
    """The items do not add up to what was said."""


async def gather(blobs: BlobStore, limits: OffloadLimits, effect: GatherOutputs) -> str:
    """Write outputs.pb of the map node, one list per declared output, and return its URI.

    Raises Permanent: OffloadTooLarge (USER), OutputsNotFound (SYSTEM, naming the element); Transient.
    """
    types = list_types(effect.spec, effect.target.interface)
    children = isinstance(effect.target, LaunchPlanSpec)
    source = Collected(blobs, effect.key, effect.elements, children)
    job = _Job(source, limits, types)
    missing = source.placeholders() * len(NO_VALUE)
    said = effect.elements.output_bytes
    try:
        return await job.write({name: said.get(name, 0) + missing for name in types})
    except _SizesDiffer:
        return await job.write({name: await job.measure(name) for name in types})


def list_types(spec: NodeSpec, mapped: Interface) -> dict[str, bytes]:
    """Output variable -> serialized `LiteralType` of the list that the map node gives."""
    if spec.array is None or not spec.array.original_interface:
        return dict(mapped.outputs)
    ratio = spec.array.min_success_ratio
    tolerant = ratio is not None and ratio < 1
    return {
        name: types_pb2.LiteralType(collection_type=_item_type(item, tolerant=tolerant)).SerializeToString()
        for name, item in mapped.outputs.items()
    }


def _item_type(item: bytes, *, tolerant: bool) -> types_pb2.LiteralType:
    """An element whose failure is tolerated leaves None in its place."""
    kind = types_pb2.LiteralType.FromString(item)
    if not tolerant:
        return kind
    variants = kind.union_type.variants if kind.WhichOneof("type") == "union_type" else [kind]
    none = types_pb2.LiteralType(simple=types_pb2.NONE)
    return types_pb2.LiteralType(union_type=types_pb2.UnionType(variants=[*variants, none]))


class _Job:
    def __init__(self, source: Collected, limits: OffloadLimits, types: Mapping[str, bytes]) -> None:
        self.source, self.limits, self.types = source, limits, types
        self.blobs, self.prefix = source.blobs, layout.attempt_prefix(source.key)

    async def write(self, payloads: Mapping[str, int]) -> str:
        """`payloads`: bytes that the framed items of each list take. Raises _SizesDiffer where they don't."""
        sizes = {name: framed_size(payload) for name, payload in payloads.items()}
        offloaded = [name for name, size in sizes.items() if is_offloaded(self.limits, name, size)]
        references = {name: await self._offload(name, payloads[name]) for name in offloaded}
        uri = self.blobs.uri(layout.outputs(self.source.key))
        async with self.blobs.writer(uri) as file:
            for name in sorted(payloads):
                if name in references:
                    await file.write(entry(name, references[name]))
                else:
                    await file.write(entry_header(name, sizes[name]) + header(Kind.COLLECTION, payloads[name]))
                    await self._copy(name, payloads[name], file)
        return uri

    async def measure(self, name: str) -> int:
        """Bytes that the framed items of one list really take."""
        total = 0

        async def count(batch: Batch) -> None:
            nonlocal total
            total += sum(batch.sizes)

        await self.source.copy(name, count)
        return total

    async def _copy(self, name: str, payload: int, file: BlobWriter) -> None:
        written = 0

        async def add(sizes: Sequence[int]) -> None:
            nonlocal written
            written += sum(sizes)

        await self.source.append(name, file, add)
        _agree(name, written, payload)

    async def _offload(self, name: str, payload: int) -> bytes:
        """Write the list to a file of its own, with an index of its items beside it; gives the reference to it."""
        uri = self.blobs.uri(f"{self.prefix}/{value_name(name)}")
        start = header(Kind.COLLECTION, payload)
        next_item = len(start)

        async with (
            self.blobs.writer(uri) as file,
            self.blobs.writer(self.blobs.uri(f"{self.prefix}/{index_name(name)}")) as index,
        ):

            async def add(sizes: Sequence[int]) -> None:
                nonlocal next_item
                *offsets, next_item = accumulate(sizes, initial=next_item)
                await index.write(packed(offsets))

            await file.write(start)
            await self.source.append(name, file, add)
            await index.write(packed([next_item]))
            _agree(name, next_item - len(start), payload)
        return reference_literal(Reference(uri, next_item, self.types[name]))


def _agree(name: str, written: int, payload: int) -> None:
    if written != payload:
        raise _SizesDiffer(f"the elements' literals of output {name!r} take {written} bytes, {payload} were expected")
