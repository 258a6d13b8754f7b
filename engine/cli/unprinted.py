"""Why there is no output of an attempt: nothing ran, because its result was there already."""

from __future__ import annotations

import shlex

from engine.machine.recovery import Earlier
from engine.model.cache import CacheStatus
from engine.model.ids import AttemptKey
from engine.model.phases import NodePhase
from engine.model.state import Snapshot
from engine.ports.eventlog import Records


async def why_nothing(log: Records, snapshot: Snapshot, key: AttemptKey) -> str:
    """A line for people; "" where it is not known that nothing ran."""
    node = next(node for node in snapshot.nodes if node.path == key.path)
    where = key.path if key.index is None else f"{key.path}[{key.index}]"
    if node.phase is NodePhase.RECOVERED or await _taken_over(log, snapshot, key):
        return f"node {where} did not run: its outputs were taken over from {_source(snapshot, where)}"
    if key.index is None and node.cache is CacheStatus.HIT and key.attempt == node.attempt:
        return f"node {where} did not run: its result came from the cache"
    return ""


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
