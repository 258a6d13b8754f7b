"""Failure nodes (on_failure): when a graph's clean-up runs, what it is told, and what its own failure adds.

It runs once everything else in the frame has ended, for every failed attempt of the node that owns the frame, and not
where the frame was aborted. The graph fails whatever comes of it, with the first failure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from engine.model.errors import Failure, shorten
from engine.model.graph import NodeSpec
from engine.model.phases import ExecutionPhase, NodePhase

if TYPE_CHECKING:
    from engine.machine.draft import Draft
    from engine.machine.execution import Frame

_FAILING = frozenset({NodePhase.FAILING, NodePhase.RETRYABLE_FAILURE})


def due(draft: Draft, frame: Frame) -> bool:
    """Whether the clean-up of a frame in which nothing is live is still to be run."""
    return bool(frame.cleanup) and draft.find(frame.cleanup) is None and _failed(draft, frame)


def _failed(draft: Draft, frame: Frame) -> bool:
    """And was not aborted."""
    if frame.owner is None:
        return draft.record.phase in (ExecutionPhase.FAILING, ExecutionPhase.HANDLING_FAILURE_NODE)
    return draft.node(frame.owner).phase in _FAILING


def told(spec: NodeSpec, frame: Frame, failure: Failure | None) -> NodeSpec:
    """The failure node with the failure as its input, if it takes that."""
    name = frame.graph.error_input
    if not name or failure is None:
        return spec
    bindings = tuple(
        structs.replace(binding, failure=failure) if binding.variable == name else binding for binding in spec.bindings
    )
    return structs.replace(spec, bindings=bindings)


def with_own_failure(draft: Draft, frame: Frame, failure: Failure) -> Failure:
    """The failure of the frame, with that of its clean-up behind it, if that failed too."""
    own = draft.find(frame.cleanup) if frame.cleanup and _failed(draft, frame) else None
    if own is None or own.phase is not NodePhase.FAILED or own.error is None:
        return failure
    added = f"Its failure node {own.path} failed too, with {own.error.code}: {own.error.message}"
    return structs.replace(failure, message=shorten(f"{failure.message}\n{added}"))
