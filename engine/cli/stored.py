"""What states refer to in the store: whether it is there, and whether what it refers to is there as well."""

from __future__ import annotations

from engine.data.dangling import Dangling
from engine.machine import arrays
from engine.machine.execution import ExecutionState, past
from engine.machine.replay import Problem
from engine.model import layout
from engine.model.ids import split
from engine.model.phases import SATISFIED, NodePhase
from engine.model.state import Node, Snapshot
from engine.ports.blobstore import BlobStore

BATCH = 1024
"""Objects asked for at once."""


class Stored:
    def __init__(self, blobs: BlobStore) -> None:
        self._blobs, self._dangling = blobs, Dangling(blobs)
        self.objects = 0
        """Looked at."""

    async def values(self, snapshot: Snapshot) -> list[Problem]:
        """The inputs and outputs that the states of an execution name. Raises Transient."""
        wanted = {snapshot.execution.inputs_uri: "", snapshot.execution.outputs_uri: ""}
        for node in snapshot.nodes:
            wanted[node.inputs_uri] = node.path
            if node.phase in SATISFIED:
                wanted[node.outputs_uri] = node.path
        wanted.pop("", None)
        found = []
        for uri, path in wanted.items():
            self.objects += 1
            expected = f"{uri} and all that it refers to"
            found += [Problem(problem, expected, path) for problem in await self._dangling.problems(uri)]
        return found

    async def elements(self, state: ExecutionState) -> list[Problem]:
        """The outputs of the succeeded elements of maps: what the gather reads, or has read. Raises Transient."""
        found = []
        for node in state.nodes.values():
            if node.elements is None or past(state, node.path):
                continue
            frame, _ = split(node.path)
            program, target = state.frame(frame).program, state.spec(node.path).target
            task = program.tasks.get(target) if target else None
            if task is not None and task.interface.outputs:
                found += await self._missing(state, node)
        return found

    async def _missing(self, state: ExecutionState, node: Node) -> list[Problem]:
        elements = node.elements
        assert elements is not None
        found = []
        indexes = list(arrays.in_phase(elements, NodePhase.SUCCEEDED))
        for first in range(0, len(indexes), BATCH):
            part = indexes[first : first + BATCH]
            keys = [state.record.element_key(node.path, node.attempt, k, arrays.attempt_of(elements, k)) for k in part]
            uris = [self._blobs.uri(layout.outputs(key)) for key in keys]
            self.objects += len(uris)
            for index, uri, data in zip(part, uris, await self._blobs.get_many(uris, end=1), strict=True):
                if data is None:
                    found.append(Problem(f"no object at {uri}", "the outputs of an element", f"{node.path}[{index}]"))
        return found
