"""Looks through what engines on Kafka have committed, a partition at a time, for anything that must not be.

Memory is bounded by the states of one partition, as that of an engine is. It may run beside the engines: what is read
last is at least as new as what is compared with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.adapters.kafka import topics
from engine.adapters.kafka.clients import Clients
from engine.adapters.kafka.options import Topic
from engine.adapters.kafka.slices import Slice, Slices
from engine.cli.inspection import Counts, Inspection, Tell
from engine.machine import invariants
from engine.machine.children import child_id, started
from engine.machine.histories import Histories
from engine.machine.replay import Problem
from engine.model.graph import NodeKind
from engine.model.ids import AttemptKey, ExecutionId
from engine.model.phases import TERMINAL, NodePhase
from engine.model.state import Execution, Fact, Node, Snapshot
from engine.ports.blobstore import BlobStore

MARGIN_SECONDS = 600.0
"""By which the clocks of engines, brokers and submitters may differ."""
_Child = tuple[ExecutionId, Node | tuple[AttemptKey, NodePhase]]
"""A parent, and its node, or the element of a map that has ended, which has started a child."""


async def audit_cluster(clients: Clients, blobs: BlobStore, tell: Tell) -> Counts:
    """All partitions, one after the other. `tell` hears of each problem.

    Raises BadInput where there are no topics of engines, LogFailed where they can't be read, Transient where the store
    can't be read just now.
    """
    slices = Slices(clients, await topics.count(clients))
    look = _Look(slices, Inspection(blobs, tell))
    for partition in range(slices.partitions):
        await look.at(partition)
    await look.at_children()
    return look.counts


class _Look:
    def __init__(self, slices: Slices, inspection: Inspection) -> None:
        self._slices, self._inspection = slices, inspection
        self._children: dict[ExecutionId, _Child] = {}
        """By the child. They are on any partition, and looked at when all parents have been read."""

    @property
    def counts(self) -> Counts:
        return self._inspection.counts

    async def at(self, partition: int) -> None:
        states = await self._slices.states(partition)
        await self._at_cursor(states)
        missing = await self._submitted(states)
        await self._at_histories(states, missing)
        for snapshot in states.snapshots():
            await self._inspection.at(snapshot)
            self._children.update(_children(snapshot))
        for execution in states.strays():
            self._inspection.found([Problem("has nodes in the states", "an execution of this name")], execution)
        for execution, problem in states.unreadable.items():
            self._inspection.found([Problem(problem, "a node of this version")], execution)
        for key, problem in states.strange:
            self._inspection.found([Problem(problem, "a record of this version", execution=key)])

    async def at_children(self) -> None:
        """Where a node had ended, the child had to end before. One that was forgotten since says nothing."""
        owned: dict[int, list[ExecutionId]] = {}
        untold: list[tuple[ExecutionId, Node, Execution]] = []
        for child in self._children:
            owned.setdefault(self._slices.owner(child), []).append(child)
        for partition, children in sorted(owned.items()):
            states = await self._slices.states(partition, nodes=False)
            for child in children:
                found = states.executions.get(child)
                parent, what = self._children[child]
                if found is None:
                    continue
                if isinstance(what, Node):
                    problems = invariants.of_child(what, found, coming=True, refused=False)
                    if found.terminal and not what.terminal:
                        untold.append((parent, what, found))
                else:
                    problems = invariants.of_element_child(*what, found)
                self._inspection.found(problems, parent)
        await self._at_untold(untold)

    async def _at_untold(self, suspects: Sequence[tuple[ExecutionId, Node, Execution]]) -> None:
        """Nodes that were not told of their child's end when they were read: that it is on its way is no problem.

        The news was in the partition of the parent when the child's end was seen.
        """
        owned: dict[int, list[tuple[ExecutionId, Node, Execution]]] = {}
        for suspect in suspects:
            owned.setdefault(self._slices.owner(suspect[0]), []).append(suspect)
        for partition, those in sorted(owned.items()):
            _, end = await self._slices.edges(Topic.EVENTS, partition)
            states = await self._slices.states(partition)
            if states.cursor < end and await self._slices.waiting(partition, states.cursor):
                continue
            for parent, before, child in those:
                snapshot = states.snapshot(parent) if parent in states.executions else None
                for node in snapshot.nodes if snapshot else ():
                    if (node.path, node.attempt) == (before.path, before.attempt):
                        self._inspection.found(invariants.of_child(node, child, coming=False, refused=False), parent)

    async def _at_cursor(self, states: Slice) -> None:
        _, end = await self._slices.edges(Topic.EVENTS, states.partition)
        self.counts.cursor += states.cursor
        self.counts.last_event += end
        if not 0 <= states.cursor <= end:
            where = f"partition {states.partition}: the cursor is {states.cursor}"
            self._inspection.found([Problem(where, f"an event that is there: 0 to {end}")])

    async def _submitted(self, states: Slice) -> dict[ExecutionId, float]:
        """What was submitted, processed and has no state, with the moment."""
        missing: dict[ExecutionId, float] = {}
        async for batch in self._slices.submissions(states.partition, states.cursor):
            missing.update((execution, at) for execution, at in batch if execution not in states.executions)
        return missing

    async def _at_histories(self, states: Slice, missing: dict[ExecutionId, float]) -> None:
        """`missing`: executions that something must be told of."""
        first, _ = await self._slices.edges(Topic.HISTORY, states.partition)
        known = {execution: record.sequence for execution, record in states.executions.items()}
        histories = Histories(
            known,
            states.snapshot,
            lambda execution, problem: self._inspection.found([problem], execution),
            whole=not first,
        )
        begins = 0.0
        async for batch in self._slices.facts(states.partition):
            for fact in batch:
                if not isinstance(fact, Fact):
                    self._inspection.found([Problem(fact[1], "a fact of this version", execution=fact[0])])
                    continue
                begins = begins or fact.at
                missing.pop(fact.execution, None)
                if fact.sequence:
                    self.counts.facts += 1
                    histories.take(fact)
        async for letters in self._slices.letters(states.partition):
            self.counts.dead_letters += len(letters)
            for execution in filter(None, letters):
                missing.pop(execution, None)
        await self._at_newer(states, histories.finish())
        for execution, at in missing.items():
            if not first or (begins and at > begins + MARGIN_SECONDS):
                self._inspection.found([Problem("was submitted and is not there", "its state")], execution)

    async def _at_newer(self, states: Slice, told: dict[ExecutionId, int]) -> None:
        """What facts say beyond the states that were read, must stand in those that came since."""
        if not told:
            return
        newer = await self._slices.states(states.partition, states.end, nodes=False)
        for execution, facts in told.items():
            if execution in newer.forgotten:
                continue
            record = newer.executions.get(execution) or states.executions.get(execution)
            if record is None:
                self._inspection.found([Problem(f"has no state, after {facts} facts", "its state")], execution)
            elif record.sequence < facts:
                what = f"its state knows {record.sequence} facts"
                self._inspection.found([Problem(what, f"{facts}, as its history has")], execution)


def _children(snapshot: Snapshot) -> Iterator[tuple[ExecutionId, _Child]]:
    record = snapshot.execution
    for node in snapshot.nodes:
        if node.kind is NodeKind.LAUNCH_PLAN:
            yield child_id(record.key(node.path, node.attempt)), (record.id, node)
        elif node.kind is NodeKind.ARRAY_OF_LAUNCH_PLANS:
            for key, phase in started(record, node):
                if phase in TERMINAL:
                    yield child_id(key), (record.id, (key, phase))
