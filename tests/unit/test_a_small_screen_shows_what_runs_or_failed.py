"""More nodes than lines: those that run or failed come first, then the latest that have ended."""

from __future__ import annotations

import io

from rich.console import Console

from engine.cli.board import Board
from engine.cli.live import LiveView
from engine.model.ids import AttemptKey
from tests import programs
from tests.simulation import EXECUTION, Simulation


async def test_the_rest_is_only_counted() -> None:
    def script(key: AttemptKey) -> str | None:
        return "hang" if key.path == "n19" else None

    world = Simulation(programs.chain(20), script).run()
    board = Board(world.states.get)
    board.follow(EXECUTION)
    console = Console(file=io.StringIO(), force_terminal=True, width=100, height=10, color_system=None)
    view = LiveView(board, lambda: world.now, console)
    await view.begin()
    await view.draw()
    written = console.file
    assert isinstance(written, io.StringIO)
    last = written.getvalue().split("\r")[-1]
    for path, shown in {"n19": True, "n18": True, "n14": True, "n13": False, "n0": False}.items():
        assert (f"{path} " in last) is shown, path
    assert "... and 14 more nodes that have ended" in last
    await view.finish()
    assert "n0 " in written.getvalue(), "the last picture is whole"
