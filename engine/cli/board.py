"""What the views show: the executions that are followed, the child executions they start, and the nodes of all.

A view must cost the engine next to nothing. So what is live is read from the engine's own list when a picture is made,
what has ended is noted from the facts, and nothing is done for a node that is not drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from engine.cli.answers import Place
from engine.cli.followed import ARROW, Followed, Spot
from engine.cli.wording import GROUPS, Group
from engine.gateway.order import NodeOrder
from engine.machine.execution import ExecutionState
from engine.model.graph import END_NODE, START_NODE
from engine.model.ids import ExecutionId
from engine.model.phases import TERMINAL, ExecutionPhase, NodePhase
from engine.model.state import Execution, Fact

KEPT = 1000
"""Nodes of executions that have succeeded which can still be shown; those of the earliest are only counted."""
_BOUNDARY = (START_NODE, END_NODE)
_ENDS = {phase.name: GROUPS[phase] for phase in TERMINAL}
_BEGIN = NodePhase.NOT_YET_STARTED.name


class Board:
    def __init__(self, state_of: Callable[[ExecutionId], ExecutionState | None], place: Place | None = None) -> None:
        """`state_of`: an unfinished execution as the engine holds it. `place`: where gates are answered."""
        self._place = place
        self._state_of = state_of
        self._order = NodeOrder()
        self._followed: dict[ExecutionId, Followed] = {}
        self._open: dict[ExecutionId, Followed] = {}
        self._closed: dict[ExecutionId, Followed] = {}
        """Those that have ended and whose nodes can still be shown."""
        self._succeeded: list[ExecutionId] = []
        """Of the closed: those that may be let go, the earliest first."""
        self._kept = 0
        self.ended: Counter[Group] = Counter()
        """Nodes that have ended, in whatever execution."""

    def follow(self, execution: ExecutionId, title: str = "") -> None:
        """Show an execution from now on; what it has done already comes in at once. `title` precedes its paths."""
        if execution in self._followed:
            return
        state = self._state_of(execution)
        followed = self._adopt(state.record) if state is not None else None
        if followed is None:
            followed = self._followed[execution] = Followed(
                self._order, title, 0, (len(self._followed),), place=self._place
            )
        if state is not None:
            self._take(followed, state)

    def see(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> bool:
        """Take in what was committed; whether it concerns what is shown."""
        if self._kept > KEPT:
            self._let_go()
        fresh: list[ExecutionId] = []
        concerned = False
        for record in executions:
            followed = self._followed.get(record.id) or self._adopt(record)
            if followed is None:
                continue
            concerned = True
            if followed.state is None and (state := self._state_of(record.id)) is not None:
                self._take(followed, state)
                fresh.append(record.id)
            elif record.ended_at:
                self._close(record)
        if concerned:
            self._note_ends(facts, fresh)
        return concerned

    def shows(self, fact: Fact) -> bool:
        """Whether it concerns a followed execution or one of its nodes; to be asked before the next `see`."""
        followed = self._followed.get(fact.execution)
        return followed is not None and followed.state is not None and _is_shown(fact.path)

    def spot(self, execution: ExecutionId, path: str) -> Spot:
        return Spot(self._followed[execution], path)

    def unfinished(self) -> Iterator[tuple[str, ExecutionState]]:
        """The executions that have not ended, each with what precedes the paths of its nodes; parents first."""
        for followed in sorted(self._open.values(), key=lambda one: one.key):
            assert followed.state is not None
            yield followed.title, followed.state

    def live(self, most: int) -> tuple[Counter[Group], list[Spot], list[Spot]]:
        """How many nodes run and are queued, and of each the first, at most so many, in the order of their queueing."""
        running: list[Spot] = []
        queued: list[Spot] = []
        counts: Counter[Group] = Counter()
        for followed in self._open.values():
            assert followed.state is not None
            nodes = followed.state.nodes
            for path in followed.state.live:
                if _is_shown(path):
                    waits = nodes[path].phase is NodePhase.QUEUED
                    counts[Group.QUEUED if waits else Group.RUNNING] += 1
                    spots = queued if waits else running
                    if len(spots) < most:
                        spots.append(Spot(followed, path))
        return counts, running, queued

    def ends(self, group: Group) -> Iterator[Spot]:
        """Nodes that have ended and can be shown, of an execution the latest first; failures the earliest first."""
        for kept in (self._open, self._closed):
            for followed in reversed(kept.values()):
                paths = followed.ended.get(group, [])
                for path in paths if group is Group.FAILED else reversed(paths):
                    yield Spot(followed, path)

    def _adopt(self, record: Execution) -> Followed | None:
        """Follow a child execution of one that is followed."""
        parent = record.parent
        above = self._followed.get(parent.execution) if parent is not None else None
        if parent is None or above is None or above.state is None or parent.path not in above.state.nodes:
            return None
        spot = Spot(above, parent.path)
        row = spot.row()
        title, key, mark = row.place + ARROW, (*spot.key(), parent.attempt), ""
        if parent.index is None:
            above.children[parent.path] = record.id.name
        else:
            title, key = f"{row.place}[{parent.index}]{ARROW}", (*spot.key(), parent.index, parent.attempt)
            mark = f"[{parent.index}] "
        child = Followed(self._order, title, row.depth + 1, key, spot, mark, self._place)
        self._followed[record.id] = child
        return child

    def _take(self, followed: Followed, state: ExecutionState) -> None:
        """The first sight of an execution: what has ended there so far. From then on the facts tell."""
        followed.state = state
        self._open[state.record.id] = followed
        ended = [(path, node) for path, node in state.nodes.items() if node.terminal and _is_shown(path)]
        for path, node in sorted(ended, key=lambda item: item[1].ended_at):
            self._note(followed, GROUPS[node.phase], path)
        if state.record.terminal:
            self._close(state.record)

    def _note_ends(self, facts: Sequence[Fact], fresh: Sequence[ExecutionId]) -> None:
        for fact in facts:
            group = _ENDS.get(fact.phase)
            if group is None:
                if fact.phase == _BEGIN:
                    self._unnote(fact)
                continue
            if fact.index is not None or not fact.path or not _is_shown(fact.path):
                continue
            followed = self._followed.get(fact.execution)
            if followed is not None and fact.execution not in fresh:
                self._note(followed, group, fact.path)

    def _note(self, followed: Followed, group: Group, path: str) -> None:
        followed.ended[group].append(path)
        self.ended[group] += 1

    def _unnote(self, fact: Fact) -> None:
        """A node that had ended is to be tried again."""
        followed = self._followed.get(fact.execution)
        for group, paths in followed.ended.items() if followed is not None else ():
            if fact.path in paths:
                paths.remove(fact.path)
                self.ended[group] -= 1

    def _close(self, record: Execution) -> None:
        followed = self._open.pop(record.id, None)
        if followed is not None and followed.state is not None:
            self._closed[record.id] = followed
            if record.phase is ExecutionPhase.SUCCEEDED:
                self._succeeded.append(record.id)
                self._kept += len(followed.state.nodes)

    def _let_go(self) -> None:
        """Bound the memory: of executions that have succeeded, the last one and so many nodes of others are kept."""
        while self._kept > KEPT and len(self._succeeded) > 1:
            followed = self._closed.pop(self._succeeded.pop(0))
            assert followed.state is not None
            self._kept -= len(followed.state.nodes)
            followed.let_go()


def _is_shown(path: str) -> bool:
    """Whether it is a node that an author wrote (or, where it is empty, the execution itself)."""
    return not path.endswith(_BOUNDARY) or path.rpartition("/")[2] not in _BOUNDARY
