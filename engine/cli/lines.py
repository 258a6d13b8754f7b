"""The plain view: a line for each transition of an execution or node; maps tell their progress by tenths."""

from __future__ import annotations

from collections.abc import Sequence

from engine.cli.board import Board
from engine.cli.followed import ARROW
from engine.cli.wording import done, duration, elapsed, plain, progress
from engine.gateway.document import attempts
from engine.model.cache import CacheStatus
from engine.model.ids import ExecutionId
from engine.model.phases import TERMINAL, NodePhase
from engine.model.state import Execution, Fact, Node

STEPS = 10
"""Progress lines of one map."""
_TELLING = (NodePhase.QUEUED, NodePhase.RUNNING, NodePhase.RECOVERED)
LINE_SHOWN = 200
"""Characters of a line of an error message."""


class Lines:
    def __init__(self, board: Board) -> None:
        self._board = board
        self._shown: dict[tuple[ExecutionId, str], int] = {}
        """Tenths of each map that were told already."""
        self._named: set[tuple[ExecutionId, str]] = set()
        """The nodes that have not ended whose task was told: a view may begin in the middle."""

    def see(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> list[str]:
        """The lines for what was committed."""
        found: list[str] = []
        self._board.see(executions, facts)
        for fact in filter(self._board.shows, facts):
            if not fact.path:
                found.append(self._execution_line(fact))
            elif fact.index is None:
                found.append(self._node_line(fact))
            else:
                # The first of a batch tells of all that are in it.
                found += self._progress_lines(fact)
        return found

    def _execution_line(self, fact: Fact) -> str:
        followed = self._board.spot(fact.execution, "").at
        assert followed.state is not None
        record, place = followed.state.record, followed.title.removesuffix(ARROW)
        line = f"{place + ' ' if place else ''}execution {record.id.name} {fact.phase}"
        if record.terminal and record.phase.value == fact.phase:
            return f"{line} after {duration(record.ended_at - record.started_at)}"
        return f"{line} {record.entity}" if fact.phase == "RUNNING" else line

    def _node_line(self, fact: Fact) -> str:
        row = self._board.spot(fact.execution, fact.path).row()
        words = [row.place, fact.phase]
        phase, place = NodePhase[fact.phase], (fact.execution, fact.path)
        if phase in _TELLING and place not in self._named:
            self._named.add(place)
            words += [] if row.question else [row.node.kind.value, row.target]
        match phase:
            case NodePhase.QUEUED | NodePhase.RUNNING if fact.attempt:
                words.append(f"attempt {fact.attempt + 1}")
            case NodePhase.RUNNING:
                words.append(plain(row.question))
            case NodePhase.SUCCEEDED | NodePhase.FAILED | NodePhase.ABORTED | NodePhase.TIMED_OUT:
                words.append(_ending(row.node))
        if phase in TERMINAL:
            self._named.discard(place)
        if fact.cache is CacheStatus.HIT:
            words.append("from the cache")
        if fact.error is not None and fact.phase != NodePhase.FAILING.name:
            words.append(f"{fact.error.code}: {_gist(fact.error.message)}")
        return " ".join(filter(None, words))

    def _progress_lines(self, fact: Fact) -> list[str]:
        execution, path = fact.execution, fact.path
        row = self._board.spot(execution, path).row()
        elements = row.node.elements
        if elements is None or not elements.size:
            return []
        tenths = STEPS * done(elements) // elements.size
        if tenths <= self._shown.get((execution, path), 0):
            return []
        self._shown[(execution, path)] = tenths
        return [f"{row.place} {progress(row.node, fact.at)}"]


def _ending(node: Node) -> str:
    took = elapsed(node, node.ended_at)
    count = attempts(node)
    return " ".join(filter(None, [f"after {took}" if took else "", f"and {count} attempts" if count > 1 else ""]))


def _gist(message: str) -> str:
    """The first line and the last one, which is where Python puts the error."""
    lines = [line.strip()[:LINE_SHOWN] for line in message.strip().splitlines()]
    return " ... ".join(dict.fromkeys([*lines[:1], *lines[-1:]]))
