"""Looks at executions one by one, wherever their states were read, for anything that must not be."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct, structs

from engine.app import load_program
from engine.cli.stored import Stored
from engine.machine import invariants
from engine.machine.execution import ExecutionState, plans_of
from engine.machine.replay import Problem
from engine.model.errors import EngineError
from engine.model.graph import Program
from engine.model.ids import ExecutionId
from engine.model.state import Snapshot
from engine.ports.blobstore import BlobStore

Tell = Callable[[Problem], None]
PROGRAMS = 16
"""Kept in memory."""


class Counts(Struct):
    """What was looked at."""

    cursor: int = 0
    last_event: int = 0
    executions: int = 0
    unfinished: int = 0
    nodes: int = 0
    facts: int = 0
    objects: int = 0
    dead_letters: int = 0


class Inspection:
    """`tell` hears of each problem."""

    def __init__(self, blobs: BlobStore, tell: Tell) -> None:
        self._blobs, self._tell, self._stored = blobs, tell, Stored(blobs)
        self._programs: dict[str, Program | EngineError] = {}
        self._counts = Counts()

    @property
    def counts(self) -> Counts:
        self._counts.objects = self._stored.objects
        return self._counts

    def found(self, problems: Iterable[Problem], execution: ExecutionId | None = None) -> None:
        for problem in problems:
            self._tell(structs.replace(problem, execution=str(execution)) if execution else problem)

    async def at(self, snapshot: Snapshot) -> None:
        """The states of one execution: among each other, with its program, and with the store. Raises Transient."""
        record = snapshot.execution
        self._counts.executions += 1
        self._counts.unfinished += not record.terminal
        self._counts.nodes += len(snapshot.nodes)
        self.found(invariants.of_snapshot(snapshot), record.id)
        program = await self._program(record.package)
        plans = {digest: await self._program(digest) for digest in plans_of(snapshot.nodes)}
        lost = [f"{digest}: {plan}" for digest, plan in plans.items() if not isinstance(plan, Program)]
        if lost:
            self.found([Problem(f"plans of its @dynamic tasks can't be read: {'; '.join(lost)}", "all")], record.id)
        elif isinstance(program, Program):
            found = {digest: plan for digest, plan in plans.items() if isinstance(plan, Program)}
            state = ExecutionState.of(record, program, snapshot.nodes, found)
            strange = list(invariants.of_frames(state))
            self.found(strange or await self._stored.elements(state), record.id)
        elif not record.terminal:
            self.found([Problem(f"its package can't be read: {program}", "a package to go on with")], record.id)
        self.found(await self._stored.values(snapshot), record.id)

    async def _program(self, digest: str) -> Program | EngineError:
        """Each package is read once, while the executions that share it follow each other closely."""
        if digest not in self._programs:
            if len(self._programs) == PROGRAMS:
                del self._programs[next(iter(self._programs))]
            try:
                self._programs[digest] = await load_program(self._blobs, digest)
            except EngineError as problem:
                self._programs[digest] = problem
        return self._programs[digest]
