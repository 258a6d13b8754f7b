"""Documents are made even when a package or outputs can't be read; what is missing is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.adapters.memory.blobs import MemoryBlobs
from engine.gateway.documents import Documents
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Snapshot
from tests import programs
from tests.simulation import EXECUTION, Simulation


class OneExecution:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    async def executions(self) -> Sequence[Execution]:
        return [self._snapshot.execution]

    async def snapshot(self, execution: ExecutionId) -> Snapshot | None:
        return self._snapshot


async def test_null_stands_for_what_cannot_be_read_and_each_problem_is_told_once() -> None:
    world = Simulation(programs.chain(2)).run()
    blobs = MemoryBlobs()
    record = world.state.record
    snapshot = Snapshot(record, tuple(world.nodes().values()))
    documents = Documents(OneExecution(snapshot), blobs, Path("/somewhere"))
    for _ in range(2):
        document = await documents.of(EXECUTION)
    assert (document["phase"], document["outputs"]) == ("SUCCEEDED", None if record.outputs_uri else {})
    nodes = document["nodes"]
    assert isinstance(nodes, list)
    assert [node["task"] for node in nodes if isinstance(node, dict)] == [None, None]
    assert documents.problems[0].startswith("package of execution e1 can't be read: no object at ")
    assert sum("package" in problem for problem in documents.problems) == 1


async def test_an_execution_without_outputs_has_empty_ones() -> None:
    world = Simulation(programs.program([programs.graph("wf", [])])).run()
    snapshot = Snapshot(world.state.record, tuple(world.nodes().values()))
    documents = Documents(OneExecution(snapshot), MemoryBlobs(), Path("/somewhere"))
    assert await documents.outputs(snapshot) == {}
    assert documents.problems == []
