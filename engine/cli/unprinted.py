"""Why there is no output of an attempt: nothing ran, because its result was there already."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from engine.gateway.documents import Documents
from engine.machine import arrays
from engine.machine.recovery import Earlier
from engine.model import layout
from engine.model.cache import CacheStatus
from engine.model.ids import AttemptKey
from engine.model.phases import TERMINAL, NodePhase
from engine.model.state import Snapshot
from engine.ports.blobstore import BlobStore
from engine.ports.eventlog import Records


async def why_nothing(documents: Documents, snapshot: Snapshot, key: AttemptKey, streams: Sequence[str]) -> str:
    """A line for people; "" where there may be output elsewhere, or later."""
    node = next(node for node in snapshot.nodes if node.path == key.path)
    where = key.path if key.index is None else f"{key.path}[{key.index}]"
    if node.phase is NodePhase.RECOVERED or await _taken_over(documents.log, snapshot, key):
        return f"node {where} did not run: its outputs were taken over from {_source(snapshot, where)}"
    if key.index is None and node.cache is CacheStatus.HIT and key.attempt == node.attempt:
        return f"node {where} did not run: its result came from the cache"
    elements, index = node.elements, key.index
    phase = node.phase if index is None or elements is None else arrays.phase_of(elements, index)
    if phase not in TERMINAL:
        return ""
    if await _is_stored(documents.blobs, key):
        return f"attempt {key.attempt + 1} of node {where} has printed nothing: {' and '.join(streams)}"
    if elements is not None and elements.cached and phase is NodePhase.SUCCEEDED:
        return f"node {where} did not run: its result came from the cache"
    return ""


async def _is_stored(blobs: BlobStore, key: AttemptKey) -> bool:
    """Whether the streams of an attempt are there, empty ones too: then it has run, and is over."""
    folder = blobs.uri(layout.attempt_prefix(key))
    return any([await blobs.size(f"{folder}/{stream}.log") is not None for stream in ("stdout", "stderr")])


async def _taken_over(log: Records, snapshot: Snapshot, key: AttemptKey) -> bool:
    """Whether it is an element whose outputs are those of the recovered execution, under the same path."""
    if key.index is None or key.attempt or key.node_attempt or snapshot.execution.recovers is None:
        return False
    source = await log.snapshot(snapshot.execution.recovers)
    here = next(node for node in snapshot.nodes if node.path == key.path)
    found = [node for node in source.nodes if node.path == key.path] if source is not None else []
    if source is None or not found or here.elements is None:
        return False
    return Earlier(source.execution, found[0]).element(here.elements.size, key.index)[1]


def _source(snapshot: Snapshot, where: str) -> str:
    source = snapshot.execution.recovers
    assert source is not None
    # Inside a node that was tried again there, its path is another one.
    place = "" if "/" in where else f": propwash logs {source.name} {shlex.quote(where)}"
    return f"execution {source.name}{place}"
