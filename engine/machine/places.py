"""How many nodes of one execution run at once, and how deep executions nest: FlytePropeller's `max_parallelism`.

Tasks, maps and launch plans count, each as one; what they wait inside of (sub-workflows, branches, @dynamic tasks that
have their plan) and gates do not. A node that finds no place is started when one comes free, in the order of readiness.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.machine.overrides import effective
from engine.model.errors import ErrorKind, Failure
from engine.model.graph import NodeKind, NodeSpec
from engine.model.phases import NodePhase
from engine.model.state import Execution, Node

if TYPE_CHECKING:
    from engine.machine.draft import Draft

COUNTED = frozenset({NodeKind.TASK, NodeKind.ARRAY, NodeKind.LAUNCH_PLAN, NodeKind.ARRAY_OF_LAUNCH_PLANS})
MOST_LEVELS = 500
"""Graphs inside graphs of one execution: sub-workflows, branches, plans of @dynamic tasks."""
_LAUNCHING = frozenset({NodeKind.LAUNCH_PLAN, NodeKind.ARRAY_OF_LAUNCH_PLANS})


def takes_place(node: Node | None) -> bool:
    return node is not None and node.kind in COUNTED and node.live and node.phase is not NodePhase.DYNAMIC_RUNNING


def full(draft: Draft, kind: NodeKind) -> bool:
    """Whether a node of this kind has to wait for a place."""
    if kind not in COUNTED:
        return False
    most = effective(draft.record, draft.state.program).max_parallelism or draft.rules.executions.max_parallelism
    return 0 < most <= draft.busy


def too_deep(record: Execution, spec: NodeSpec, path: str, most: int) -> Failure | None:
    """Why a node must not start: workflows and @dynamic tasks that start themselves without end are stopped here."""
    levels = path.count("/") // 2
    if levels > MOST_LEVELS and spec.kind is not NodeKind.START:
        message = (
            f"node {spec.id} stands {levels} levels deep, in a graph inside a graph and so on; {MOST_LEVELS} may be, "
            "and a @dynamic task that plans itself needs an end"
        )
        return Failure("NestingTooDeep", ErrorKind.USER, message)
    if spec.kind not in _LAUNCHING or record.depth < most:
        return None
    message = (
        f"node {spec.id} would start an execution {record.depth + 1} levels below the first one; execution.max_nesting "
        f"is {most}, and a workflow that starts itself needs an end"
    )
    return Failure("NestingTooDeep", ErrorKind.USER, message)
