"""Child executions: what they are called, and what their end means to the node or map element that waits for them.

A child's name is a hash of the attempt key it was started for, so a repeated start is the same submission.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.machine import arrays
from engine.machine.frames import AUTO_ABORT
from engine.model import layout
from engine.model.effects import AbortChild
from engine.model.errors import ErrorKind, Failure, shorten
from engine.model.events import ChildEnded
from engine.model.graph import END_NODE, NodeKind
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Execution, Node


def child_id(key: AttemptKey) -> ExecutionId:
    """The child's name: 128 bits of the parent's attempt key; equal keys give equal names."""
    return ExecutionId(key.execution.project, key.execution.domain, f"f{key.digest()}")


def started(parent: Execution, node: Node) -> Iterator[tuple[AttemptKey, NodePhase]]:
    """The last attempts of a node, or of its map elements, that have started child executions or were about to."""
    if node.kind is NodeKind.LAUNCH_PLAN:
        yield parent.key(node.path, node.attempt), node.phase
    elif node.kind is NodeKind.ARRAY_OF_LAUNCH_PLANS and node.elements is not None:
        for index in range(node.elements.next):
            attempt = arrays.attempt_of(node.elements, index)
            key = parent.element_key(node.path, node.attempt, index, attempt)
            yield key, arrays.phase_of(node.elements, index)


def child_outputs(key: AttemptKey) -> str:
    """Where the child that an attempt has started leaves its outputs: a key of the store."""
    return layout.outputs(AttemptKey(child_id(key), END_NODE))


def abort_child(key: AttemptKey, parent: Execution, why: str = "") -> AbortChild:
    """Ask the child that an attempt has started to stop. `why`: if the attempt itself has failed."""
    reason = parent.abort_cause or why or AUTO_ABORT
    cause = f"cascading abort from parent execution {parent.id}, node {place(key)}: {reason}"
    return AbortChild(key, child_id(key), cause)


def failure_of(event: ChildEnded) -> Failure:
    """The child's error, with its code and kind, and words that lead to the child."""
    error = event.error or Failure("Unknown", ErrorKind.SYSTEM, "no error was recorded")
    if event.phase is ExecutionPhase.ABORTED:
        message = f"child execution {event.child.name} was aborted: {error.message}"
        return Failure("RemoteChildWorkflowExecutionFailed", ErrorKind.USER, message, place(event.key))
    where = f" at node {error.node}" if error.node else ""
    message = shorten(f"child execution {event.child.name} failed{where}: {error.message}")
    return Failure(error.code, error.kind, message, place(event.key))


def place(key: AttemptKey) -> str:
    """The node or map element, as failures name it."""
    return key.path if key.index is None else f"{key.path}[{key.index}]"
