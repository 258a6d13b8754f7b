"""The value work of nodes that run nothing themselves: composite nodes, end-nodes, launch plan nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.data.literals import entries, literal_map
from engine.data.recent import remember
from engine.data.resolve import resolve
from engine.model import layout
from engine.model.errors import ErrorKind, Failure, Permanent
from engine.model.graph import Binding, Graph, LaunchPlanSpec
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


async def child_inputs(
    blobs: BlobStore,
    bindings: Sequence[Binding],
    sources: Mapping[str, str],
    plan: LaunchPlanSpec,
    workflow: Graph,
) -> bytes:
    """Every input of a child execution, as a serialized `LiteralMap`: defaults, then bindings, then fixed inputs.

    Large values stay references. Raises Permanent (USER) naming the inputs that nobody gives; else as `resolve` does.
    """
    given = entries(await resolve(blobs, bindings, sources))
    inputs = {**entries(plan.defaults), **given, **entries(plan.fixed)}
    missing = [name for name in workflow.interface.inputs if name not in inputs]
    if missing:
        what = f"input {missing[0]!r} is" if len(missing) == 1 else f"inputs {', '.join(map(repr, missing))} are"
        message = f"{plan.id} can't be started: {what} missing; the node gives {', '.join(given) or 'none'}"
        raise Permanent(Failure(code="RemoteChildWorkflowExecutionFailed", kind=ErrorKind.USER, message=message))
    return literal_map({name: literal for name, literal in inputs.items() if name in workflow.interface.inputs})
