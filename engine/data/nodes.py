"""The value work of nodes that run nothing themselves: composite nodes and end-nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.data.conditions import choose
from engine.data.recent import remember
from engine.data.resolve import resolve
from engine.model import layout
from engine.model.graph import Binding, NodeSpec
from engine.model.ids import AttemptKey
from engine.ports.blobstore import BlobStore


async def resolve_and_store(
    blobs: BlobStore, key: AttemptKey, bindings: Sequence[Binding], sources: Mapping[str, str]
) -> str:
    """Store a composite node's inputs at `layout.node_inputs`; the URI, or "" where there is nothing to store.

    Raises Permanent (BindingResolutionFailure) and Transient, as `resolve` does.
    """
    inputs = await resolve(blobs, bindings, sources)
    return await _stored(blobs, layout.node_inputs(key.execution, key.path), inputs)


async def evaluate_branch(
    blobs: BlobStore, key: AttemptKey, spec: NodeSpec, sources: Mapping[str, str]
) -> tuple[str, str]:
    """Store the inputs of a branch node's conditions; their URI, and the arm they lead to.

    Raises Permanent (BindingResolutionFailure, UserProvidedError, MalformedBranchUserError) and Transient.
    """
    assert spec.branch is not None
    inputs = await resolve(blobs, spec.bindings, sources)
    choice = await choose(blobs, spec.branch, spec.name or spec.id, inputs)
    return await _stored(blobs, layout.node_inputs(key.execution, key.path), inputs), choice


async def write_outputs(
    blobs: BlobStore, key: AttemptKey, bindings: Sequence[Binding], sources: Mapping[str, str]
) -> str:
    """Store what the bindings give as the outputs of `key`; the URI, or "" where there is nothing to store.

    Raises Permanent (BindingResolutionFailure) and Transient, as `resolve` does.
    """
    return await _stored(blobs, layout.outputs(key), await resolve(blobs, bindings, sources))


async def store_outputs(blobs: BlobStore, key: AttemptKey, outputs: bytes) -> str:
    """Store a serialized `LiteralMap` as the outputs of `key`; the URI, or "" where there is nothing to store."""
    return await _stored(blobs, layout.outputs(key), outputs)


async def _stored(blobs: BlobStore, key: str, data: bytes) -> str:
    if not data:
        return ""
    uri = blobs.uri(key)
    await blobs.put(uri, data)
    remember(blobs, uri, data)
    return uri
