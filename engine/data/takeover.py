"""The outputs of a map element that succeeded in the recovered execution, as this one's own.

They are copied, so that an execution that recovers this one finds them here. Values they refer to stay where they are.
"""

from __future__ import annotations

from engine.data.evidence import output_sizes
from engine.data.framing import CorruptMessage
from engine.data.recent import remember
from engine.data.stored import BLOCK
from engine.model import layout
from engine.model.effects import RunElement
from engine.model.errors import BlobNotFound
from engine.model.events import AttemptSucceeded
from engine.ports.blobstore import BlobStore


async def take_over(blobs: BlobStore, effect: RunElement) -> AttemptSucceeded | None:
    """The element's success, with its outputs in its own folder; None where they are gone, and it must run.

    Raises Transient.
    """
    assert effect.succeeded is not None
    declared = tuple(effect.task.interface.outputs)
    if not declared:
        return AttemptSucceeded(effect.key, recovered=True)
    old, new = blobs.uri(layout.outputs(effect.succeeded)), blobs.uri(layout.outputs(effect.key))
    try:
        head = await blobs.get(old, 0, BLOCK)
        sizes, _ = await output_sizes(blobs, old, head)
        if not sizes.keys() >= {*declared}:
            return None
        await _copied(blobs, old, new, head)
    except (BlobNotFound, CorruptMessage):
        return None
    return AttemptSucceeded(effect.key, new, {name: sizes[name] for name in declared}, recovered=True)


async def _copied(blobs: BlobStore, old: str, new: str, head: bytes) -> None:
    if len(head) < BLOCK:
        await blobs.put(new, head)
        remember(blobs, new, head)
        return
    async with blobs.writer(new) as writer:
        block, at = head, 0
        while block:
            await writer.write(block)
            at += len(block)
            block = await blobs.get(old, at, at + BLOCK)
