"""The tree of nodes as lines of text: what a node contains, or started, is indented below it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from engine.cli.board import Board
from engine.cli.followed import Row, Spot
from engine.cli.pace import Pace
from engine.cli.wording import GROUPS, Group, cached, done, elapsed, plain, progress, short, tries, width
from engine.model.state import Node

_BAR = 10
_GAP = 2
_DIM, _END = "\x1b[2m", "\x1b[0m"
_COLOURS = {
    Group.FAILED: "\x1b[1;31m",
    Group.RUNNING: "\x1b[36m",
    Group.QUEUED: "",
    Group.ABORTED: "\x1b[35m",
    Group.DONE: "\x1b[32m",
    Group.SKIPPED: _DIM,
}
_LATEST_FIRST = (Group.ABORTED, Group.DONE, Group.SKIPPED)
Cell = tuple[str, str]
"""A text, and the control sequence that colours it."""


def choose(board: Board, room: int = sys.maxsize) -> tuple[list[Row], Counter[Group]]:
    """The rows for at most `room` lines, and the nodes that none of them shows.

    What has failed and what runs comes first, then what is queued, then what ended last; always below the nodes that
    contain it or started its execution. One line is left free where not all nodes have a row.
    """
    live, running, queued = board.live(room)
    counts = board.ended + live
    if counts.total() > room:
        room = max(room - 1, 1)
    chosen: dict[Spot, None] = {}
    for spot in _in_order(board, running, queued, room):
        line = [one for one in spot.line() if one not in chosen]
        if len(chosen) + len(line) > room:
            break
        chosen.update(dict.fromkeys(line))
    rows = [spot.row() for spot in sorted(chosen, key=Spot.key)]
    return rows, counts - Counter(GROUPS[row.node.phase] for row in rows)


def _in_order(board: Board, running: Sequence[Spot], queued: Sequence[Spot], room: int) -> Iterator[Spot]:
    """The most telling first. Failures leave at least half of the room to what runs."""
    failed = islice(board.ends(Group.FAILED), max(room // 2, room - len(running)))
    return chain(failed, running, queued, *map(board.ends, (Group.FAILED, *_LATEST_FIRST)))


def folded(hidden: Counter[Group]) -> str:
    """`… 240 nodes done`, `… 3 nodes running, 12 queued, 240 done`; "" if every node has a row."""
    counts = [(hidden[group], group) for group in Group if hidden[group]]
    first = "… {} node{} {}".format(counts[0][0], "" if counts[0][0] == 1 else "s", counts[0][1]) if counts else ""
    return ", ".join([first, *(f"{count} {group}" for count, group in counts[1:])])


class Tree:
    """Makes lines of rows. Its columns only grow, so that a picture that is redrawn keeps its shape."""

    def __init__(self, *, coloured: bool = False, pace: Pace | None = None) -> None:
        self._coloured, self._pace = coloured, pace
        self._widths = [0] * 5

    def lines(self, rows: Sequence[Row], now: float, columns: int = sys.maxsize) -> list[str]:
        """One line a row, cut to the columns of the terminal."""
        table = [self._cells(row, now) for row in rows]
        for cells in table:
            for n, (text, _) in enumerate(cells[:-1]):
                self._widths[n] = max(self._widths[n], width(text))
        return [self._line(cells, columns) for cells in table]

    def note(self, text: str, columns: int) -> str:
        """A line of its own below the rows."""
        shown, _ = _cut(text, columns)
        return f"{_DIM}{shown}{_END}" if self._coloured else shown

    def _cells(self, row: Row, now: float) -> tuple[Cell, ...]:
        node = row.node
        rate = self._pace.rate(row.place, node, now) if self._pace and node.elements else None
        details = [tries(node), _bar(node), progress(node, now, rate), cached(node)]
        details.append(f"execution {row.child}" if row.child else "")
        details.append(plain(row.question))
        return (
            ("  " * row.depth + plain(row.label), ""),
            (node.kind.value, _DIM),
            (node.phase.name, _COLOURS[GROUPS[node.phase]]),
            (elapsed(node, now), ""),
            (plain(short(row.target)), ""),
            (" ".join(filter(None, details)), ""),
        )

    def _line(self, cells: Sequence[Cell], columns: int) -> str:
        parts: list[str] = []
        position = start = 0
        for n, (text, colour) in enumerate(cells):
            if text and start < columns:
                shown, taken = _cut(text, columns - start)
                parts += " " * (start - position), f"{colour}{shown}{_END}" if colour and self._coloured else shown
                position = start + taken
            if n < len(self._widths) and self._widths[n]:
                start += self._widths[n] + _GAP
        return "".join(parts)


def _cut(text: str, columns: int) -> tuple[str, int]:
    """What fits, and the columns that it takes."""
    if (taken := width(text)) <= columns:
        return text, taken
    while width(text) >= columns and text:
        text = text[:-1]
    return f"{text}…", width(text) + 1


def _bar(node: Node) -> str:
    elements = node.elements
    if elements is None or not elements.size or node.terminal:
        return ""
    filled = _BAR * done(elements) // elements.size
    return "█" * filled + "░" * (_BAR - filled)
