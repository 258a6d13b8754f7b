"""The inputs of a map node: how many elements they make, and what each element reads."""

from __future__ import annotations

from engine.model.effects import PrepareArray, RunElement
from engine.model.errors import Defect
from engine.model.graph import NodeSpec, TaskSpec
from engine.model.limits import OffloadLimits
from engine.ports.blobstore import BlobStore


async def prepare_array(blobs: BlobStore, limits: OffloadLimits, effect: PrepareArray) -> tuple[str, int]:
    """Resolve, gate, size and store a map node's inputs: their URI and the number of elements.

    Raises Permanent: BindingResolutionFailure, LiteralOffloading..., InvalidArrayLength.
    """
    raise Defect("prepare_array is not written yet")


async def array_size(blobs: BlobStore, spec: NodeSpec, task: TaskSpec, inputs: bytes) -> int:
    """How many elements the inputs (a serialized `LiteralMap`) make. Raises Permanent (USER, InvalidArrayLength)."""
    raise Defect("array_size is not written yet")


async def element_inputs(blobs: BlobStore, effect: RunElement) -> bytes:
    """The inputs of one element as a serialized `LiteralMap`: one-item lists (or the item), bound inputs whole."""
    raise Defect("element_inputs is not written yet")
