"""What the views show: the executions that are followed, the child executions they start, and the nodes of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from engine.cli.document import target_name
from engine.cli.order import Key, NodeOrder
from engine.machine.execution import ExecutionState
from engine.model.graph import NodeKind
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact, Node

ARROW = " > "
"""Between a launch plan node and a node of its child execution."""


@dataclass(frozen=True, slots=True)
class Row:
    place: str
    """`n1/0/n0`, or `n1 > n0` for node n0 of the child execution that node n1 started."""
    depth: int
    node: Node
    target: str


@dataclass(frozen=True, slots=True)
class _Followed:
    place: str
    depth: int
    key: Key


class Board:
    def __init__(self, state_of: Callable[[ExecutionId], ExecutionState | None]) -> None:
        """`state_of`: an unfinished execution as the engine holds it."""
        self._state_of = state_of
        self._order = NodeOrder()
        self._followed: dict[ExecutionId, _Followed] = {}
        self._rows: dict[tuple[ExecutionId, str], tuple[Key, Row]] = {}
        self.records: dict[ExecutionId, Execution] = {}
        """Those of the followed executions that have been seen, as they are now."""

    def follow(self, execution: ExecutionId, title: str = "") -> None:
        """Show an execution from now on; what it has done already comes in at once. `title` precedes its paths."""
        number = len(self._followed)
        self._followed.setdefault(execution, _Followed(title, 0, (number,)))
        state = self._state_of(execution)
        if state is not None:
            self.records[execution] = state.record
            for path in state.nodes:
                self._set(execution, path)

    def see(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> list[Fact]:
        """Take in what was committed; the facts that concern what is shown."""
        for record in executions:
            if record.parent is not None and record.id not in self._followed:
                self._follow_child(record)
            if record.id in self._followed:
                self.records[record.id] = record
        ours = [fact for fact in facts if fact.execution in self._followed]
        for execution, path in dict.fromkeys((fact.execution, fact.path) for fact in ours if fact.path):
            self._set(execution, path)
        return [fact for fact in ours if not fact.path or (fact.execution, fact.path) in self._rows]

    def rows(self) -> Iterator[Row]:
        for _, row in sorted(self._rows.values(), key=lambda item: item[0]):
            yield row

    def row(self, execution: ExecutionId, path: str) -> Row:
        return self._rows[(execution, path)][1]

    def place(self, execution: ExecutionId) -> str:
        """What precedes the paths of this execution's nodes."""
        return self._followed[execution].place

    def _follow_child(self, record: Execution) -> None:
        parent = record.parent
        if parent is None or (parent.execution, parent.path) not in self._rows:
            return
        key, row = self._rows[(parent.execution, parent.path)]
        self._followed[record.id] = _Followed(row.place + ARROW, row.depth + 1, (*key, parent.attempt))

    def _set(self, execution: ExecutionId, path: str) -> None:
        state, followed = self._state_of(execution), self._followed[execution]
        if state is None or path not in state.nodes or state.nodes[path].kind in (NodeKind.START, NodeKind.END):
            return
        known = self._rows.get((execution, path))
        key = known[0] if known else (*followed.key, *self._order.key(path, state))
        target = known[1].target if known else target_name(path, state) or ""
        depth = followed.depth + path.count("/") // 2
        self._rows[(execution, path)] = (key, Row(followed.place + path, depth, state.nodes[path], target))
