"""Looks through a whole home, one execution at a time, for anything that must not be: hands what it reads to the rules.

Memory is bounded by the largest execution's state, not by its history, by its values or by the number of executions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

from msgspec import Struct, structs

from engine.adapters.sqlite.audit import SqliteAudit
from engine.app import load_program
from engine.cli.stored import Stored
from engine.machine import invariants
from engine.machine.children import child_id, started
from engine.machine.execution import ExecutionState, plans_of
from engine.machine.replay import Problem, Replay
from engine.model.errors import EngineError, LogFailed
from engine.model.events import ChildEnded, ExecutionSubmitted
from engine.model.graph import NodeKind, Program
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Node, Snapshot
from engine.ports.blobstore import BlobStore
from engine.stores import look_at_store

Tell = Callable[[Problem], None]
PROGRAMS = 16
"""Kept in memory."""
ELEMENTS = 500
"""Child executions of a map that are looked up together."""


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


async def audit(home: Path, tell: Tell) -> Counts:
    """Everything as of one moment, whether an engine works on the home or not. `tell` hears of each problem.

    Raises BadInput where no home is, HomeTooNew, LogFailed where the log can't be opened, Transient where the store
    can't be read just now.
    """
    async with SqliteAudit.open(home) as log, look_at_store(home) as blobs:
        look = _Look(log, blobs, tell)
        try:
            await look.at_log()
            async for snapshot in log.snapshots():
                await look.at_execution(snapshot)
        except LogFailed as problem:
            tell(Problem(f"{problem}; what comes after it was not looked at", "a log that can be read"))
        look.counts.objects = look.stored.objects
        return look.counts


class _Look:
    def __init__(self, log: SqliteAudit, blobs: BlobStore, tell: Tell) -> None:
        self.counts = Counts()
        self.stored = Stored(blobs)
        self._log, self._blobs, self._tell = log, blobs, tell
        self._programs: dict[str, Program | EngineError] = {}
        self._coming: set[ExecutionId] = set()
        """Executions that start, or whose parent learns of their end, with an event not processed yet."""
        self._refused: set[ExecutionId] = set()
        """Named by dead letters."""

    def _found(self, problems: Iterable[Problem], execution: ExecutionId | None = None) -> None:
        for problem in problems:
            self._tell(structs.replace(problem, execution=str(execution)) if execution else problem)

    async def at_log(self) -> None:
        """The file, the cursor, and that no submission was lost."""
        self.counts.cursor, self.counts.last_event = cursor, last = await self._log.marks()
        self._found(Problem(f"the log is damaged: {text}", "a whole file") for text in await self._log.damage())
        for table, key in await self._log.strays():
            self._tell(Problem(f"table {table} has rows of it", "an execution of this name", execution=key))
        if not 0 <= cursor <= last:
            self._tell(Problem(f"the cursor is {cursor}", f"an event that is there: 0 to {last}"))
        async for letter in self._log.letters():
            self.counts.dead_letters += 1
            if letter.execution is not None:
                self._refused.add(letter.execution)
        await self._at_events(cursor)

    async def _at_events(self, cursor: int) -> None:
        after = 0
        while records := await self._log.events(after):
            after = records[-1].offset
            submitted = []
            for record in records:
                event = record.event
                if isinstance(event, ExecutionSubmitted) and record.offset <= cursor:
                    submitted.append(event.execution)
                elif isinstance(event, ExecutionSubmitted | ChildEnded) and record.offset > cursor:
                    self._coming.add(event.child if isinstance(event, ChildEnded) else event.execution)
            known = await self._log.find(submitted)
            for execution in submitted:
                if execution not in known and execution not in self._refused:
                    self._tell(Problem("was submitted and is not there", "its state", execution=str(execution)))

    async def at_execution(self, snapshot: Snapshot) -> None:
        record = snapshot.execution
        self.counts.executions += 1
        self.counts.unfinished += not record.terminal
        self.counts.nodes += len(snapshot.nodes)
        replay = Replay()
        async for facts in self._log.facts(record.id):
            self.counts.facts += len(facts)
            replay.take(facts)
        self._found(replay.against(snapshot), record.id)
        self._found(invariants.of_snapshot(snapshot), record.id)
        program = await self._program(record.package)
        plans = {digest: await self._program(digest) for digest in plans_of(snapshot.nodes)}
        lost = [f"{digest}: {plan}" for digest, plan in plans.items() if not isinstance(plan, Program)]
        if lost:
            self._found([Problem(f"plans of its @dynamic tasks can't be read: {'; '.join(lost)}", "all")], record.id)
        elif isinstance(program, Program):
            found = {digest: plan for digest, plan in plans.items() if isinstance(plan, Program)}
            state = ExecutionState.of(record, program, snapshot.nodes, found)
            strange = list(invariants.of_frames(state))
            self._found(strange or await self.stored.elements(state), record.id)
        elif not record.terminal:
            self._found([Problem(f"its package can't be read: {program}", "a package to go on with")], record.id)
        await self._at_children(snapshot)
        self._found(await self.stored.values(snapshot), record.id)

    async def _at_children(self, snapshot: Snapshot) -> None:
        plans = [node for node in snapshot.nodes if node.kind is NodeKind.LAUNCH_PLAN]
        ids = {node.path: child_id(snapshot.execution.key(node.path, node.attempt)) for node in plans}
        known = await self._log.find(list(ids.values()))
        for node in plans:
            child = ids[node.path]
            coming, refused = child in self._coming, child in self._refused
            problems = invariants.of_child(node, known.get(child), coming=coming, refused=refused)
            self._found(problems, snapshot.execution.id)
        for node in snapshot.nodes:
            if node.kind is NodeKind.ARRAY_OF_LAUNCH_PLANS:
                await self._at_element_children(snapshot.execution, node)

    async def _at_element_children(self, record: Execution, node: Node) -> None:
        keys = iter(started(record, node))
        while batch := list(islice(keys, ELEMENTS)):
            known = await self._log.find([child_id(key) for key, _ in batch])
            for key, phase in batch:
                self._found(invariants.of_element_child(key, phase, known.get(child_id(key))), record.id)

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
