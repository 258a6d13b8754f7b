"""Looks through a whole home, one execution at a time, for anything that must not be: hands what it reads to the rules.

Memory is bounded by the largest execution's state, not by its history, by its values or by the number of executions.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from engine.adapters.sqlite.audit import SqliteAudit
from engine.cli.inspection import Counts, Inspection, Tell
from engine.machine import invariants
from engine.machine.children import child_id, started
from engine.machine.replay import Problem, Replay
from engine.model.errors import LogFailed
from engine.model.events import ChildEnded, ExecutionSubmitted
from engine.model.graph import NodeKind
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Node, Snapshot
from engine.stores import look_at_store

if TYPE_CHECKING:
    from config.settings import Settings

ELEMENTS = 500
"""Child executions of a map that are looked up together."""


async def audit(home: Path, tell: Tell, settings: Settings | None = None) -> Counts:
    """Everything as of one moment, whether an engine works on the home or not. `tell` hears of each problem.

    Raises BadInput where no home is, HomeTooNew, LogFailed where the log can't be opened, Transient where the store
    can't be read just now.
    """
    async with SqliteAudit.open(home) as log, look_at_store(home, settings) as blobs:
        look = _Look(log, Inspection(blobs, tell))
        try:
            await look.at_log()
            async for snapshot in log.snapshots():
                await look.at_execution(snapshot)
        except LogFailed as problem:
            tell(Problem(f"{problem}; what comes after it was not looked at", "a log that can be read"))
        return look.counts


class _Look:
    def __init__(self, log: SqliteAudit, inspection: Inspection) -> None:
        self._log, self._inspection = log, inspection
        self._coming: set[ExecutionId] = set()
        """Executions that start, or whose parent learns of their end, with an event not processed yet."""
        self._refused: set[ExecutionId] = set()
        """Named by dead letters."""

    @property
    def counts(self) -> Counts:
        return self._inspection.counts

    async def at_log(self) -> None:
        """The file, the cursor, and that no submission was lost."""
        found = self._inspection.found
        self.counts.cursor, self.counts.last_event = cursor, last = await self._log.marks()
        found(Problem(f"the log is damaged: {text}", "a whole file") for text in await self._log.damage())
        for table, key in await self._log.strays():
            found([Problem(f"table {table} has rows of it", "an execution of this name", execution=key)])
        if not 0 <= cursor <= last:
            found([Problem(f"the cursor is {cursor}", f"an event that is there: 0 to {last}")])
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
                    self._inspection.found([Problem("was submitted and is not there", "its state")], execution)

    async def at_execution(self, snapshot: Snapshot) -> None:
        record = snapshot.execution
        replay = Replay()
        async for facts in self._log.facts(record.id):
            self.counts.facts += len(facts)
            replay.take(facts)
        self._inspection.found(replay.against(snapshot), record.id)
        await self._inspection.at(snapshot)
        await self._at_children(snapshot)

    async def _at_children(self, snapshot: Snapshot) -> None:
        plans = [node for node in snapshot.nodes if node.kind is NodeKind.LAUNCH_PLAN]
        ids = {node.path: child_id(snapshot.execution.key(node.path, node.attempt)) for node in plans}
        known = await self._log.find(list(ids.values()))
        for node in plans:
            child = ids[node.path]
            coming, refused = child in self._coming, child in self._refused
            problems = invariants.of_child(node, known.get(child), coming=coming, refused=refused)
            self._inspection.found(problems, snapshot.execution.id)
        for node in snapshot.nodes:
            if node.kind is NodeKind.ARRAY_OF_LAUNCH_PLANS:
                await self._at_element_children(snapshot.execution, node)

    async def _at_element_children(self, record: Execution, node: Node) -> None:
        keys = iter(started(record, node))
        while batch := list(islice(keys, ELEMENTS)):
            known = await self._log.find([child_id(key) for key, _ in batch])
            for key, phase in batch:
                problems = invariants.of_element_child(key, phase, known.get(child_id(key)))
                self._inspection.found(problems, record.id)
