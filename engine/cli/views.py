"""Shows what an engine does while it does it: a live view on a terminal, else plain lines."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

import anyio

from engine.app import Engine
from engine.cli.board import Board
from engine.cli.lines import Lines
from engine.cli.screen import OutputRefused, say_soon, tell
from engine.cli.standing import standing
from engine.loop.watchers import Watcher
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact

FINISH_SECONDS = 2.0
"""The most that the last picture may take: a reader may have stopped reading."""
_WITHOUT_CURSOR = ("dumb", "unknown")
"""Terminals on which nothing can be redrawn."""


class View(Protocol):
    pause_seconds: float
    """Between two pictures."""
    tick_seconds: float
    """A picture even when nothing happens."""

    def see(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> bool:
        """Take in what was committed; whether there is something new to draw."""
        ...

    async def begin(self) -> None: ...

    async def draw(self) -> None: ...

    async def finish(self) -> None: ...


class PlainView:
    pause_seconds = 0.0
    tick_seconds = float("inf")

    def __init__(self, board: Board) -> None:
        self._lines = Lines(board)
        self._waiting: list[str] = []

    def see(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> bool:
        self._waiting += self._lines.see(executions, facts)
        return bool(self._waiting)

    async def begin(self) -> None:
        """Nothing to prepare."""

    async def draw(self) -> None:
        if self._waiting:
            text, self._waiting = "\n".join(self._waiting), []
            await say_soon(text)

    async def finish(self) -> None:
        await self.draw()


async def announce(execution: ExecutionId, *, quiet: bool) -> None:
    """On a terminal, the name of an execution above the tree that is redrawn; plain lines begin with it anyway."""
    if not quiet and _redraws():
        await say_soon(f"execution {execution.name}")


@asynccontextmanager
async def showing(
    engine: Engine, executions: Sequence[ExecutionId], home: Path, *, quiet: bool = False
) -> AsyncIterator[None]:
    """Show these executions, and the child executions they start, until the block is left. `quiet`: show nothing."""
    if quiet:
        yield
        return
    board = Board(engine.residents.get, home)
    begun: dict[ExecutionId, int] = {}
    async with drawing(board, engine.parts.clock.now) as see:

        def told(executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
            """Facts that the state held already when the view began are not told again."""
            see(executions, [it for it in facts if it.sequence > begun.get(it.execution, 0)] if begun else facts)

        with engine.watchers.watching(told):
            # Nothing is committed between the watching and the following.
            for execution in executions:
                board.follow(execution, f"{execution.name}: " if len(executions) > 1 else "")
                if (state := engine.residents.get(execution)) is not None:
                    begun[execution] = state.record.sequence
                    see(*standing(state, engine.parts.clock.now()))
            yield


@asynccontextmanager
async def drawing(board: Board, now: Callable[[], float]) -> AsyncIterator[Watcher]:
    """Show a board until the block is left. To be told of what was committed: it takes that in and draws."""
    artist = _Artist(_view(board, now))
    async with anyio.create_task_group() as group:
        group.start_soon(artist.work)
        try:
            yield artist.see
        finally:
            artist.stop()
            with anyio.move_on_after(FINISH_SECONDS, shield=True) as patience:
                await artist.done.wait()
            if patience.cancelled_caught:
                artist.abandon()


def _view(board: Board, now: Callable[[], float]) -> View:
    if not _redraws():
        return PlainView(board)
    from engine.cli.live import LiveView
    from engine.cli.terminal import Terminal

    return LiveView(board, now, Terminal(sys.stdout))


def _redraws() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM") not in _WITHOUT_CURSOR


class _Artist:
    """Draws in a task of its own. Only `stop` or `abandon` ends it: the screen must be left in order."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._changed, self._due = anyio.Event(), False
        self._stopping = anyio.Event()
        self._scope = anyio.CancelScope(shield=True)
        self.done = anyio.Event()

    def see(self, executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
        if self._view.see(executions, facts) and not self._due:
            self._due = True
            self._changed.set()

    def stop(self) -> None:
        self._stopping.set()
        self._changed.set()

    def abandon(self) -> None:
        self._scope.cancel()

    async def work(self) -> None:
        try:
            with self._scope:
                await self._draw_until_stopped()
        except (OSError, OutputRefused) as error:
            tell(f"what happens can't be shown any more: {error}")
        finally:
            self.done.set()

    async def _draw_until_stopped(self) -> None:
        await self._view.begin()
        while not self._stopping.is_set():
            await self._view.draw()
            with anyio.move_on_after(self._view.pause_seconds):
                await self._stopping.wait()
            with anyio.move_on_after(self._view.tick_seconds):
                await self._changed.wait()
            self._changed, self._due = anyio.Event(), False
        await self._view.finish()
