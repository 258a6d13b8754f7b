"""Nothing new to see, nothing to write: not even the way to the thread that writes is gone."""

from __future__ import annotations

import io

import pytest

from engine.cli.board import Board
from engine.cli.live import LiveView
from engine.cli.terminal import Terminal
from tests import programs
from tests.simulation import EXECUTION, Simulation


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many lines each picture had that went to the terminal."""
    found: list[int] = []
    show = Terminal.show

    def watched(terminal: Terminal, lines: list[str]) -> None:
        found.append(len(lines))
        show(terminal, lines)

    monkeypatch.setattr(Terminal, "show", watched)
    return found


async def test_what_has_changed_is_drawn_and_the_end_always(shown: list[int]) -> None:
    world = Simulation(programs.chain(3))
    board = Board(world.states.get)
    out = io.StringIO()
    view = LiveView(board, lambda: world.now, Terminal(out))
    await view.draw()
    assert shown == [], "nothing is known yet"
    board.follow(EXECUTION)
    known = len(world.facts)
    world.run()
    view.see([world.state.record], world.facts[known:])
    await view.draw()
    await view.draw()
    assert shown == [3]
    await view.finish()
    assert shown == [3, 3]
    assert out.getvalue().count("n2") == 1
