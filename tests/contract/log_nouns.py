"""Small events, states and facts for the tests of logs."""

from __future__ import annotations

from collections.abc import Sequence

from anyio.lowlevel import checkpoint

from engine.model.events import AttemptSucceeded, ExecutionSubmitted, Incoming
from engine.model.graph import NodeKind
from engine.model.ids import AttemptKey, EntityId, EntityKind, ExecutionId
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Execution, Fact, Node
from engine.ports.eventlog import Changes, EventLog, Record

WORKFLOW = EntityId(EntityKind.WORKFLOW, "p", "d", "wf", "v1")
TOO_BIG = 2**70
"""No msgpack integer."""


def named(name: str) -> ExecutionId:
    return ExecutionId("p", "d", name)


def submitted(name: str) -> ExecutionSubmitted:
    return ExecutionSubmitted(named(name), WORKFLOW, "digest", f"file:///{name}.pb", submitted_at=1.5)


def succeeded(name: str, path: str = "n0") -> AttemptSucceeded:
    return AttemptSucceeded(AttemptKey(named(name), path), f"file:///{name}/{path}.pb", {"o0": 7})


def execution(name: str, phase: ExecutionPhase = ExecutionPhase.RUNNING) -> Execution:
    return Execution(named(name), WORKFLOW, WORKFLOW, "digest", phase)


def node(path: str, phase: NodePhase = NodePhase.QUEUED) -> Node:
    return Node(path, NodeKind.TASK, phase)


def fact(name: str, sequence: int) -> Fact:
    return Fact(named(name), sequence, 2.5, "QUEUED", "n0")


async def take(log: EventLog, changes: Changes | None = None, count: int = 1) -> list[Incoming | None]:
    """Read a batch of so many events at least, and commit it: one turn."""
    records = await read(log, count)
    await log.commit(records, changes or Changes())
    return [record.event for record in records]


async def read(log: EventLog, count: int) -> Sequence[Record]:
    """A batch of so many records at least: what was appended may be a while on its way."""
    while len(records := await log.read()) < count:
        await checkpoint()
    return records
