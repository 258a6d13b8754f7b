"""Finds what the task printed that an execution failed on."""

from __future__ import annotations

import re

from engine.machine.arrays import attempt_of
from engine.machine.children import child_id
from engine.model import layout
from engine.model.errors import StoreRefused
from engine.model.graph import NodeKind
from engine.model.ids import AttemptKey
from engine.model.state import Execution, Node, Snapshot
from engine.ports.blobstore import BlobStore
from engine.ports.eventlog import Records

STDERR = "stderr.log"
_PLACE = re.compile(r"(?P<path>.+?)(\[(?P<index>\d+)\])?\Z")


async def stderr_of_failure(log: Records, blobs: BlobStore, snapshot: Snapshot) -> str:
    """Path or URI of the failed attempt's stderr, in the child execution if it failed there; "" if there is none."""
    node = _failed_node(snapshot)
    if node is None:
        return ""
    if node.kind in (NodeKind.LAUNCH_PLAN, NodeKind.ARRAY_OF_LAUNCH_PLANS):
        child = await log.snapshot(child_id(_key(snapshot.execution, node)))
        return await stderr_of_failure(log, blobs, child) if child is not None else ""
    try:
        uri = f"{blobs.uri(layout.attempt_prefix(_key(snapshot.execution, node)))}/{STDERR}"
        return _for_people(uri) if await blobs.size(uri) else ""
    except StoreRefused:
        return ""  # its name is too long for the store, or a task has put a link in its place


def _failed_node(snapshot: Snapshot) -> Node | None:
    error = snapshot.execution.error
    match = _PLACE.match(error.node) if error is not None else None
    nodes = {node.path: node for node in snapshot.nodes}
    return nodes.get(match["path"]) if match else None


def _key(execution: Execution, node: Node) -> AttemptKey:
    """The node's last attempt, or that of the map element that failed first."""
    elements = node.elements
    match = _PLACE.match(elements.first_error.node) if elements is not None and elements.first_error else None
    if elements is None or match is None or match["index"] is None:
        return execution.key(node.path, node.attempt)
    index = int(match["index"])
    return execution.element_key(node.path, node.attempt, index, attempt_of(elements, index))


def _for_people(uri: str) -> str:
    return uri.removeprefix("file://")
