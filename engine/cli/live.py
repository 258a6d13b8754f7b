"""The live view on a terminal: a tree of nodes, redrawn when something was committed, at most four times a second."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from anyio import to_thread

from engine.cli.board import Board
from engine.cli.pace import Pace
from engine.cli.terminal import Terminal
from engine.cli.tree import Tree, choose, folded
from engine.model.state import Execution, Fact

PUT_ASIDE = 10_000
"""Facts that may wait for a picture: a paused terminal must not fill the memory."""


class LiveView:
    """A View. Writing happens in a thread: a paused terminal stops nothing."""

    pause_seconds = 0.25
    tick_seconds = 1.0
    """Times go on though nothing happens; of a picture only the lines that differ are written."""

    def __init__(self, board: Board, now: Callable[[], float], terminal: Terminal) -> None:
        self._board, self._now, self._terminal = board, now, terminal
        # https://no-color.org: any value but the empty one.
        self._tree = Tree(coloured=not os.environ.get("NO_COLOR"), pace=Pace())
        self._executions: list[Execution] = []
        self._facts: list[Fact] = []
        self._drawn: list[str] = []

    def see(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> bool:
        """Put aside until the next picture, which is cheaper, unless the engine is about to forget an execution."""
        self._executions += executions
        self._facts += facts
        if len(self._facts) >= PUT_ASIDE:
            self._look()
        for record in executions:
            if record.ended_at:
                self._look()
                break
        return True

    def _look(self) -> None:
        self._board.see(self._executions, self._facts)
        self._executions, self._facts = [], []

    async def begin(self) -> None:
        self._terminal.begin()

    async def draw(self) -> None:
        picture = self.picture()
        if picture != self._drawn:
            self._drawn = picture
            await to_thread.run_sync(self._terminal.show, picture, abandon_on_cancel=True)

    async def finish(self) -> None:
        """The last picture stays on the screen."""
        await to_thread.run_sync(self._leave, self.picture(), abandon_on_cancel=True)

    def _leave(self, picture: Sequence[str]) -> None:
        self._terminal.show(picture)
        self._terminal.end()

    def picture(self) -> list[str]:
        """As many lines as the terminal has room for."""
        self._look()
        columns, room = self._terminal.size()
        rows, hidden = choose(self._board, room)
        lines = self._tree.lines(rows, self._now(), columns)
        return [*lines, self._tree.note(folded(hidden), columns)] if hidden else lines
