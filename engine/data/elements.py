"""The inputs of a map node: how many elements they make, and what each element reads."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from engine.data.arrayinputs import ArrayInputs, read_array_inputs
from engine.data.cachekey import element_key, input_hashes
from engine.data.framing import CorruptMessage
from engine.data.gate import check
from engine.data.literals import collection, entry
from engine.data.resolve import resolve
from engine.data.shelf import Shelf
from engine.model import layout
from engine.model.cache import CacheKey
from engine.model.effects import PrepareArray, RunElement, StartElement
from engine.model.errors import BlobNotFound, ErrorKind, Failure, Permanent
from engine.model.graph import TaskSpec
from engine.model.limits import OffloadLimits
from engine.ports.blobstore import BlobStore

_shelf: Shelf[ArrayInputs] = Shelf(most_bytes=32 * 1024 * 1024)
"""What was found out about the arrays whose elements run now. It only saves work: anything may be missing from it."""


class _Hashes(Struct, frozen=True):
    """Of the inputs that every element gets."""

    by_name: Mapping[str, str]

    @property
    def weight(self) -> int:
        return 200 * len(self.by_name)


_hashed: Shelf[_Hashes] = Shelf(most_bytes=1024 * 1024)


async def prepare_array(blobs: BlobStore, limits: OffloadLimits, effect: PrepareArray) -> tuple[str, int]:
    """Resolve, gate, size and store a map node's inputs: their URI and the number of elements.

    A reference that the task can't read is refused here if it is to be refused; otherwise it stays, and each element
    gets the values it needs. Raises Permanent: BindingResolutionFailure, LiteralOffloading..., InvalidArrayLength.
    """
    inputs = await resolve(blobs, effect.spec.bindings, effect.sources)
    if isinstance(effect.target, TaskSpec):
        check(effect.target, inputs, limits)
    uri = blobs.uri(layout.node_inputs(effect.key.execution, effect.key.path))
    await blobs.put(uri, inputs)
    found = await read_array_inputs(blobs, effect.spec, effect.target, uri)
    _shelf.put(blobs, uri, found)
    _hashed.drop(blobs, uri)
    return uri, found.size


async def element_inputs(blobs: BlobStore, effect: RunElement | StartElement) -> bytes:
    """The inputs of one element as a serialized `LiteralMap`: one-item lists (or the item), bound inputs whole.

    Raises Permanent (SYSTEM) where the array's inputs are gone or broken; Transient.
    """
    assert effect.spec.array is not None
    inputs, items = await _own(blobs, effect)
    parts = [inputs.whole]
    for name, item in items.items():
        parts.append(entry(name, item if effect.spec.array.original_interface else collection([item])))
    return b"".join(parts)


async def element_cache_key(blobs: BlobStore, effect: RunElement) -> CacheKey:
    """Under which the result of one element is kept: by its own items, which are all that is read of the lists.

    Raises as `element_inputs` and `content_hash`.
    """
    array, policy, uri = effect.spec.array, effect.spec.cache, effect.array_inputs_uri
    assert array is not None
    assert policy is not None
    inputs, items = await _own(blobs, effect)

    async def hashed() -> _Hashes:
        return _Hashes(await input_hashes(blobs, inputs.whole, policy.ignored))

    whole = await _hashed.get(blobs, uri, hashed)
    return await element_key(blobs, effect.task, policy, array, items, whole.by_name)


async def _own(blobs: BlobStore, effect: RunElement | StartElement) -> tuple[ArrayInputs, dict[str, memoryview]]:
    """What is known of the array, and the items of one element."""
    uri, index = effect.array_inputs_uri, effect.key.index
    target = effect.task if isinstance(effect, RunElement) else effect.plan
    assert index is not None
    try:
        inputs = await _shelf.get(blobs, uri, lambda: read_array_inputs(blobs, effect.spec, target, uri))
        return inputs, {name: await items.item(index) for name, items in inputs.mapped.items()}
    except (BlobNotFound, CorruptMessage) as problem:
        message = f"the inputs of element {index} can't be read: {problem}"
        raise Permanent(Failure(code="RuntimeExecutionError", kind=ErrorKind.SYSTEM, message=message)) from problem
