"""The JSON document of one execution: what run, resume, list and get print with --json."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from engine.gateway.order import NodeOrder
from engine.machine.execution import ExecutionState
from engine.machine.overrides import effective
from engine.model.errors import Failure
from engine.model.graph import NodeKind, Program
from engine.model.ids import EntityId, ExecutionId
from engine.model.phases import NodePhase
from engine.model.state import Execution, Node, Snapshot

if TYPE_CHECKING:
    from engine.wire.natural import Json

_MICROSECONDS = 1_000_000


def document(
    snapshot: Snapshot,
    program: Program | None,
    outputs: Mapping[str, Json] | None,
    home: Path,
    plans: Mapping[str, Program] | None = None,
) -> dict[str, Json]:
    """`program` and `plans` name the tasks and the order of nodes; None: can't be read; `outputs`: unless SUCCEEDED."""
    record, state = snapshot.execution, state_of(snapshot, program, plans)
    return {
        "execution": _name(record.id),
        "entity": _entity(record.entity),
        "labels": dict(effective(record, state.program).labels),
        "phase": record.phase.value,
        "outputs": None if outputs is None else dict(outputs),
        "error": error_document(record.error),
        "nodes": [_node(node, state) for node in _shown(state)],
        "home": str(home),
    }


def summary(record: Execution) -> dict[str, Json]:
    """One execution in a list."""
    return {
        "execution": _name(record.id),
        "entity": _entity(record.entity),
        "phase": record.phase.value,
        "submitted_at": iso(record.submitted_at),
        "started_at": iso(record.started_at),
        "ended_at": iso(record.ended_at),
        "parent": _name(record.parent.execution) if record.parent else None,
        "error": error_document(record.error),
    }


def state_of(snapshot: Snapshot, program: Program | None, plans: Mapping[str, Program] | None = None) -> ExecutionState:
    """A stored execution as an engine would hold it; without a program it has no names of tasks and no graph."""
    known = program or Program(snapshot.execution.package, {}, {}, {})
    return ExecutionState.of(snapshot.execution, known, snapshot.nodes, plans or {})


def target_name(path: str, state: ExecutionState) -> str | None:
    """The full name of the task, workflow or launch plan that a node runs; None: the program can't be read."""
    try:
        target = state.spec(path).target
    except KeyError:
        return None
    return target.name if target else None


def attempts(node: Node) -> int:
    """How often the node was tried."""
    return 0 if node.phase in (NodePhase.NOT_YET_STARTED, NodePhase.SKIPPED) else node.attempt + 1


def iso(seconds: float) -> str | None:
    """Seconds since the epoch as ISO 8601 in UTC; None for a moment that has not come."""
    if not seconds:
        return None
    # By whole microseconds: a float of this size holds no finer ones, and rounding must not differ by platform.
    whole = round(seconds * _MICROSECONDS)
    moment = datetime.fromtimestamp(whole // _MICROSECONDS, UTC).replace(microsecond=whole % _MICROSECONDS)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _shown(state: ExecutionState) -> list[Node]:
    """The nodes that an author wrote, in the order in which people read them."""
    order = NodeOrder()
    real = [node for node in state.nodes.values() if node.kind not in (NodeKind.START, NodeKind.END)]
    return sorted(real, key=lambda node: order.key(node.path, state))


def _node(node: Node, state: ExecutionState) -> Json:
    return {
        "path": node.path,
        "kind": node.kind.value,
        "task": target_name(node.path, state),
        "phase": node.phase.name,
        "attempts": attempts(node),
        "started_at": iso(node.started_at),
        "ended_at": iso(node.ended_at),
        "inputs_uri": node.inputs_uri or None,
        "outputs_uri": node.outputs_uri or None,
        "cache": None if node.cache is None else node.cache.value,
        "cached_elements": None if node.elements is None else node.elements.cached,
        "error": error_document(node.error),
    }


def _name(id: ExecutionId) -> Json:
    return {"project": id.project, "domain": id.domain, "name": id.name}


def _entity(id: EntityId) -> Json:
    return {"kind": id.kind.value.replace("_", "-"), "name": id.name, "version": id.version}


def error_document(failure: Failure | None) -> Json:
    if failure is None:
        return None
    return {
        "code": failure.code,
        "kind": failure.kind.value,
        "message": failure.message,
        "node": failure.node or None,
    }
