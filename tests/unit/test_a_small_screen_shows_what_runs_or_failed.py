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
    """The end of a run: paths and phases of the rows, and the last line as it is, on a terminal of so many lines."""
    monkeypatch.setenv("LINES", str(lines))
    monkeypatch.setenv("COLUMNS", "80")
    plain = [COLOURS.sub("", line) for line in drawn(world)]
    assert all(len(line) <= 80 for line in plain)
    return [line if line.startswith("…") else " ".join(line.split()[::2][:2]) for line in plain]


def drawn(world: Simulation) -> list[str]:
    board = Board(world.states.get)
    board.follow(EXECUTION)
    known = len(world.facts)
    world.run()
    board.see([world.state.record], world.facts[known:])
    return list(LiveView(board, lambda: world.now, Terminal(io.StringIO())).picture())


def test_the_latest_that_ended_are_shown_and_the_others_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def script(key: AttemptKey) -> str | None:
        return "hang" if key.path == "n19" else None

    assert picture(monkeypatch, Simulation(programs.chain(20), script), 7) == [
        "n16 SUCCEEDED",
        "n17 SUCCEEDED",
        "n18 SUCCEEDED",
        "n19 RUNNING",
        "… 16 nodes done",
    ]


def test_all_are_shown_where_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = picture(monkeypatch, Simulation(programs.chain(5)), 7)
    assert shown == [f"n{k} SUCCEEDED" for k in range(5)]


def test_failures_leave_half_of_the_room_to_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def script(key: AttemptKey) -> Failure | str | None:
        number = int(key.path[1:])
        return "hang" if number >= 20 else user_error() if number % 2 else None

    shown = picture(monkeypatch, Simulation(side_by_side(30), script), 9)
    assert [line.split()[1] for line in shown[:-1]] == ["FAILED"] * 3 + ["RUNNING"] * 3
    assert shown[-1] == "… 7 nodes failed, 7 running, 10 done"


def test_what_is_queued_stands_behind_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Simulation(side_by_side(6), lambda key: "hang")
    for _ in range(2):
        world.deliver(4)
    world.waiting.clear()
    assert picture(monkeypatch, world, 5) == ["n4 RUNNING", "n5 RUNNING", "… 4 nodes queued"]


def test_a_node_stands_below_what_contains_it_however_little_room_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    work = programs.task("work")
    inner = programs.graph("inner", [programs.node("n0", work.id)])
    nodes = [programs.node("n0", inner.id), *(programs.node(f"n{k}", work.id) for k in range(1, 9))]
    policy = FailurePolicy.FAIL_AFTER_EXECUTABLE_NODES_COMPLETE
    program = programs.program([programs.graph("wf", nodes, policy=policy), inner], [work])

    def script(key: AttemptKey) -> Failure | str:
        return user_error() if key.path == "n0/0/n0" else "hang"

    shown = picture(monkeypatch, Simulation(program, script), 6)
    assert shown == ["n0 FAILED", "n0/0/n0 FAILED", "n1 RUNNING", "… 7 nodes running"]


@pytest.mark.parametrize(("no_color", "coloured"), [(None, True), ("", True), ("1", False)])
def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch, no_color: str | None, coloured: bool) -> None:
    if no_color is None:
        monkeypatch.delenv("NO_COLOR", raising=False)
    else:
        monkeypatch.setenv("NO_COLOR", no_color)

    assert any("\x1b[" in line for line in drawn(Simulation(programs.chain(2)))) == coloured
