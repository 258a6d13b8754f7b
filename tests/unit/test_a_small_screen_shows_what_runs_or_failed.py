"""More nodes than lines: what failed and what runs come first, then what ended last; the rest is one line."""

from __future__ import annotations

import io
import re

import pytest

from engine.cli.board import Board
from engine.cli.live import LiveView
from engine.cli.terminal import Terminal
from engine.model.errors import Failure
from engine.model.graph import FailurePolicy, Program
from engine.model.ids import AttemptKey
from tests import programs
from tests.simulation import EXECUTION, Simulation, user_error

COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def side_by_side(count: int) -> Program:
    work = programs.task("work")
    nodes = [programs.node(f"n{k}", work.id) for k in range(count)]
    return programs.program(
        [programs.graph("wf", nodes, policy=FailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE)], [work]
    )


def picture(monkeypatch: pytest.MonkeyPatch, world: Simulation, lines: int) -> list[str]:
    """Paths and phases of the rows, and the last line as it is, on a terminal of so many lines."""
    monkeypatch.setenv("LINES", str(lines))
    monkeypatch.setenv("COLUMNS", "80")
    board = Board(world.states.get)
    board.follow(EXECUTION)
    drawn = LiveView(board, lambda: world.now, Terminal(io.StringIO())).picture()
    plain = [COLOURS.sub("", line) for line in drawn]
    assert all(len(line) <= 80 for line in plain)
    return [line if line.startswith("…") else " ".join(line.split()[::2][:2]) for line in plain]


def test_the_latest_that_ended_are_shown_and_the_others_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def script(key: AttemptKey) -> str | None:
        return "hang" if key.path == "n19" else None

    assert picture(monkeypatch, Simulation(programs.chain(20), script).run(), 7) == [
        "n16 SUCCEEDED",
        "n17 SUCCEEDED",
        "n18 SUCCEEDED",
        "n19 RUNNING",
        "… 16 nodes done",
    ]


def test_all_are_shown_where_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = picture(monkeypatch, Simulation(programs.chain(5)).run(), 7)
    assert shown == [f"n{k} SUCCEEDED" for k in range(5)]


def test_failures_leave_half_of_the_room_to_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def script(key: AttemptKey) -> Failure | str | None:
        number = int(key.path[1:])
        return "hang" if number >= 20 else user_error() if number % 2 else None

    shown = picture(monkeypatch, Simulation(side_by_side(30), script).run(), 9)
    assert [line.split()[1] for line in shown[:-1]] == ["FAILED"] * 3 + ["RUNNING"] * 3
    assert shown[-1] == "… 7 nodes failed, 7 running, 10 done"


def test_what_is_queued_stands_behind_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Simulation(side_by_side(6), lambda key: "hang")
    for _ in range(2):
        world.deliver(4)
    assert picture(monkeypatch, world, 5) == ["n4 RUNNING", "n5 RUNNING", "… 4 nodes queued"]
