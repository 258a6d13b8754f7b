"""Reads what the documents need from a log and a store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from engine.gateway.document import document, state_of
from engine.machine.execution import ExecutionState, plans_of
from engine.model import layout
from engine.model.errors import EngineError
from engine.model.graph import NodeKind, Program
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.phases import ExecutionPhase, NodePhase
from engine.model.state import Snapshot
from engine.ports.blobstore import BlobStore
from engine.ports.eventlog import Records

if TYPE_CHECKING:
    from engine.wire.natural import Json


MOST_NOTES = 200
Ask = Callable[[ExecutionId], Awaitable[Mapping[str, str]]]


class Documents:
    """`problems` collects what could not be read: the documents are made all the same, with null in its place."""

    def __init__(self, log: Records, blobs: BlobStore, home: Path, ask: Ask | None = None) -> None:
        """`ask`: what whoever works on an execution says that its queued tasks wait for, by path."""
        self.log, self.blobs = log, blobs
        self.home = home.absolute()
        self._programs: dict[str, Program | None] = {}
        self._ask = ask
        self.problems: list[str] = []

    async def of(self, execution: ExecutionId) -> dict[str, Json]:
        return await self.made_of(await self.snapshot(execution))

    async def full(self, execution: ExecutionId) -> dict[str, Json]:
        return await self.full_of(await self.snapshot(execution))

    async def full_of(self, snapshot: Snapshot) -> dict[str, Json]:
        """Of an unfinished execution, with what its nodes wait for."""
        from engine.gateway.waits import waits_json

        found = await self.made_of(snapshot)
        if not snapshot.execution.terminal:
            state = await self.state(snapshot)
            found["waiting"] = waits_json(state, await self.notes(state))
        return found

    async def made_of(self, snapshot: Snapshot) -> dict[str, Json]:
        program, plans = await self._programs_of(snapshot)
        outputs = await self.outputs(snapshot)
        # In a thread: an execution of many nodes must not hold up an engine in this process.
        return await to_thread.run_sync(document, snapshot, program, outputs, self.home, plans)

    async def snapshot(self, execution: ExecutionId) -> Snapshot:
        """An execution that is known to be stored."""
        found = await self.log.snapshot(execution)
        assert found is not None, execution
        return found

    async def outputs(self, snapshot: Snapshot) -> Mapping[str, Json] | None:
        """Natural JSON by output name; None unless the execution has SUCCEEDED."""
        record = snapshot.execution
        if record.phase is not ExecutionPhase.SUCCEEDED:
            return None
        if not record.outputs_uri:
            return {}
        from engine.wire.natural import natural_map

        try:
            data = await self.blobs.get(record.outputs_uri)
            return await to_thread.run_sync(natural_map, data, record.outputs_uri)
        except EngineError as error:
            self.problems.append(f"outputs of execution {record.id.name} can't be read: {error}")
            return None

    async def notes(self, state: ExecutionState) -> dict[str, str]:
        """What the runner and the engine say that queued tasks wait for, by path, as far as they say anything."""
        nodes = [state.nodes[path] for path in state.live]
        queued = [it for it in nodes if it.kind is NodeKind.TASK and it.phase is NodePhase.QUEUED][:MOST_NOTES]
        asked = {} if self._ask is None or not queued else await self._ask(state.record.id)
        keys = [AttemptKey(state.record.id, node.path, node.attempt) for node in queued]
        uris = [self.blobs.uri(f"{layout.attempt_prefix(key)}/{layout.NOTE}") for key in keys]
        try:
            found = await self.blobs.get_many(uris)
        except EngineError as error:
            self.problems.append(f"what execution {state.record.id.name} waits for can't be read: {error}")
            return dict(asked)
        noted = {key.path: text.decode(errors="replace") for key, text in zip(keys, found, strict=True) if text}
        return {**asked, **noted}

    async def state(self, snapshot: Snapshot) -> ExecutionState:
        """The execution with its program, as far as that can be read, for the names and the order of its nodes."""
        return state_of(snapshot, *await self._programs_of(snapshot))

    async def _programs_of(self, snapshot: Snapshot) -> tuple[Program | None, dict[str, Program]]:
        """Of the execution, and the plans of its @dynamic tasks."""
        name = snapshot.execution.id.name
        plans = {digest: await self._program(digest, name) for digest in plans_of(snapshot.nodes)}
        readable = {digest: plan for digest, plan in plans.items() if plan is not None}
        return await self._program(snapshot.execution.package, name), readable

    async def _program(self, digest: str, execution: str) -> Program | None:
        """Each package is read once, however many executions share it."""
        from engine.app import load_program

        if digest not in self._programs:
            try:
                self._programs[digest] = await load_program(self.blobs, digest)
            except EngineError as error:
                self._programs[digest] = None
                self.problems.append(f"package of execution {execution} can't be read: {error}")
        return self._programs[digest]
