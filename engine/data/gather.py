"""GatherOutputs: the outputs of a map node from those of its elements, in order, in constant memory."""

from __future__ import annotations

from engine.model.effects import GatherOutputs
from engine.model.errors import Defect
from engine.model.limits import OffloadLimits
from engine.ports.blobstore import BlobStore


async def gather(blobs: BlobStore, limits: OffloadLimits, effect: GatherOutputs) -> str:
    """Write outputs.pb of the map node and return its URI.

    Raises Permanent: OffloadTooLarge (USER), OutputsNotFound (SYSTEM, naming the element); Transient.
    """
    raise Defect("gather is not written yet")
