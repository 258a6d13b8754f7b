"""The inputs of a map node: how many elements they make, and what each element reads."""

from __future__ import annotations

from engine.data.arrayinputs import ArrayInputs, read_array_inputs
from engine.data.framing import CorruptMessage
from engine.data.gate import check
from engine.data.literals import collection, entry
from engine.data.resolve import resolve
from engine.data.shelf import Shelf
from engine.model import layout
from engine.model.effects import PrepareArray, RunElement
from engine.model.errors import BlobNotFound, ErrorKind, Failure, Permanent
from engine.model.limits import OffloadLimits
from engine.ports.blobstore import BlobStore

_shelf: Shelf[ArrayInputs] = Shelf(most_bytes=32 * 1024 * 1024)
"""What was found out about the arrays whose elements run now. It only saves work: anything may be missing from it."""


async def prepare_array(blobs: BlobStore, limits: OffloadLimits, effect: PrepareArray) -> tuple[str, int]:
    """Resolve, gate, size and store a map node's inputs: their URI and the number of elements.

    A reference that the task can't read is refused here if it is to be refused; otherwise it stays, and each element
    gets the values it needs. Raises Permanent: BindingResolutionFailure, LiteralOffloading..., InvalidArrayLength.
    """
    inputs = await resolve(blobs, effect.spec.bindings, effect.sources)
    check(effect.task, inputs, limits)
    uri = blobs.uri(layout.node_inputs(effect.key.execution, effect.key.path))
    await blobs.put(uri, inputs)
    found = await read_array_inputs(blobs, effect.spec, effect.task, uri)
    _shelf.put(blobs, uri, found)
    return uri, found.size


async def element_inputs(blobs: BlobStore, effect: RunElement) -> bytes:
    """The inputs of one element as a serialized `LiteralMap`: one-item lists (or the item), bound inputs whole.

    Raises Permanent (SYSTEM) where the array's inputs are gone or broken; Transient.
    """
    uri, index = effect.array_inputs_uri, effect.key.index
    assert index is not None
    assert effect.spec.array is not None
    try:
        inputs = await _shelf.get(blobs, uri, lambda: read_array_inputs(blobs, effect.spec, effect.task, uri))
        parts = [inputs.whole]
        for name, items in inputs.mapped.items():
            item = await items.item(index)
            parts.append(entry(name, item if effect.spec.array.original_interface else collection([item])))
        return b"".join(parts)
    except (BlobNotFound, CorruptMessage) as problem:
        message = f"the inputs of element {index} can't be read: {problem}"
        raise Permanent(Failure(code="RuntimeExecutionError", kind=ErrorKind.SYSTEM, message=message)) from problem
