"""The live view on a terminal: one line a node, redrawn when something was committed, at most ten times a second."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anyio import to_thread
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from engine.cli.board import Board, Row
from engine.cli.wording import done, elapsed, progress, short, tries
from engine.model.phases import NodePhase
from engine.model.state import Execution, Fact

_BAR = 20
_FRAME = 3
"""Lines of the screen that are not nodes."""
_STYLES = {
    NodePhase.SUCCEEDED: "green",
    NodePhase.RECOVERED: "green",
    NodePhase.FAILED: "bold red",
    NodePhase.FAILING: "red",
    NodePhase.TIMED_OUT: "bold red",
    NodePhase.ABORTED: "magenta",
    NodePhase.ABORTING: "magenta",
    NodePhase.RUNNING: "cyan",
    NodePhase.SUCCEEDING: "cyan",
    NodePhase.SKIPPED: "dim",
    NodePhase.RETRYABLE_FAILURE: "yellow",
}


class LiveView:
    """A View. Drawing happens in a thread: a paused terminal stops nothing."""

    pause_seconds = 0.1
    tick_seconds = 1.0

    def __init__(self, board: Board, now: Callable[[], float], console: Console | None = None) -> None:
        self._board, self._now = board, now
        self._live = Live(console=console, auto_refresh=False)

    def see(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> bool:
        return bool(self._board.see(executions, facts))

    async def begin(self) -> None:
        await to_thread.run_sync(self._live.start, abandon_on_cancel=True)

    async def draw(self) -> None:
        self._live.update(self._picture(self._live.console.height - _FRAME))
        await to_thread.run_sync(self._live.refresh, abandon_on_cancel=True)

    async def finish(self) -> None:
        """Leave the last picture, whole, on the screen."""
        self._live.vertical_overflow = "visible"
        self._live.update(self._picture(None))
        await to_thread.run_sync(self._live.stop, abandon_on_cancel=True)

    def _picture(self, height: int | None) -> RenderableType:
        rows = list(self._board.rows())
        shown = rows if height is None or len(rows) <= height else _most_telling(rows, height - 1)
        table = Table.grid(padding=(0, 2))
        for row in shown:
            table.add_row(*_cells(row, self._now()))
        if len(shown) == len(rows):
            return table
        return Group(table, Text(f"... and {len(rows) - len(shown)} more nodes that have ended", style="dim"))


def _most_telling(rows: Sequence[Row], height: int) -> list[Row]:
    """As many rows as the screen has room for: what runs or failed first, then the latest of the others."""
    telling = [
        row for row in rows if not row.node.terminal or row.node.phase in (NodePhase.FAILED, NodePhase.TIMED_OUT)
    ]
    others = [row for row in rows if row.node.terminal and row not in telling]
    room = max(height - len(telling), 0)
    kept = {row.place for row in [*telling[: max(height, 0)], *(others[-room:] if room else [])]}
    return [row for row in rows if row.place in kept]


def _cells(row: Row, now: float) -> tuple[RenderableType, ...]:
    node = row.node
    return (
        Text("  " * row.depth + row.place, no_wrap=True),
        Text(short(row.target), no_wrap=True),
        Text(node.kind.value, style="dim", no_wrap=True),
        Text(node.phase.name, style=_STYLES.get(node.phase, ""), no_wrap=True),
        Text(elapsed(node, now), justify="right", no_wrap=True),
        Text(" ".join(filter(None, [tries(node), _bar(row), progress(node)])), no_wrap=True),
    )


def _bar(row: Row) -> str:
    elements = row.node.elements
    if elements is None or not elements.size:
        return ""
    filled = _BAR * done(elements) // elements.size
    return "█" * filled + "░" * (_BAR - filled)
