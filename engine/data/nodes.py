"""The value work of nodes that run nothing themselves: composite nodes, end-nodes, launch plan nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.model.errors import Defect
from engine.model.graph import Binding, Graph, LaunchPlanSpec
from engine.model.ids import AttemptKey
from engine.ports.blobstore import BlobStore


async def resolve_and_store(
    blobs: BlobStore, key: AttemptKey, bindings: Sequence[Binding], sources: Mapping[str, str]
) -> str:
    """Store a composite node's inputs at `layout.node_inputs`; the URI, or "" where there is nothing to store.

    Raises Permanent (BindingResolutionFailure) and Transient, as `resolve` does.
    """
    raise Defect("resolve_and_store is not written yet")


async def write_outputs(
    blobs: BlobStore, key: AttemptKey, bindings: Sequence[Binding], sources: Mapping[str, str]
) -> str:
    """Store what the bindings give as the outputs of `key`; the URI, or "" where there is nothing to store."""
    raise Defect("write_outputs is not written yet")


async def child_inputs(
    blobs: BlobStore,
    bindings: Sequence[Binding],
    sources: Mapping[str, str],
    plan: LaunchPlanSpec,
    workflow: Graph,
) -> bytes:
    """Every input of a child execution, as a serialized `LiteralMap`: defaults, then bindings, then fixed inputs.

    Raises Permanent (USER) naming the inputs that nobody gives.
    """
    raise Defect("child_inputs is not written yet")
