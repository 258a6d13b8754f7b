"""The plain view: one line a transition; elements of maps by tenths; children under the node that started them."""

from __future__ import annotations

from engine.cli.board import Board
from engine.cli.lines import Lines
from engine.machine.execution import ExecutionState, Step
from engine.model.graph import ArraySpec, Program
from engine.model.ids import ExecutionId
from tests import programs
from tests.simulation import EXECUTION, RULES, Script, Simulation, recoverable, user_error


class Told(Simulation):
    """A simulation that tells a view what was committed, as the propeller does: before the finished are dropped."""

    def __init__(self, program: Program, script: Script = lambda key: None, *, size: int = 0) -> None:
        self.said: list[str] = []
        self._lines: Lines | None = None
        super().__init__(program, script, size=size, rules=RULES)

    def _absorb(self, state: ExecutionState, done: Step) -> None:
        super()._absorb(state, done)
        if self._lines is None:
            board = Board(self.states.get)
            board.follow(EXECUTION)
            self._lines = Lines(board)
        self.said += self._lines.see([done.record], done.facts)


def test_a_node_that_is_tried_again() -> None:
    world = Told(programs.chain(1, retries=1), lambda key: recoverable("first\nsecond") if key.attempt == 0 else None)
    world.run()
    assert world.said == [
        "execution e1 RUNNING workflow wf",
        "n0 QUEUED task work",
        "n0 RUNNING",
        "n0 RETRYABLE_FAILURE USER:Recoverable: first ... second",
        "n0 QUEUED attempt 2",
        "n0 RUNNING attempt 2",
        "n0 SUCCEEDED after 3.0 s and 2 attempts",
        "execution e1 SUCCEEDED after 5.0 s",
    ]


def test_a_failure_says_what_went_wrong() -> None:
    world = Told(programs.chain(1), lambda key: user_error())
    world.run()
    assert world.said[-3:] == [
        "n0 FAILED after 1.0 s USER:RuntimeError: boom",
        "execution e1 FAILING",
        "execution e1 FAILED after 2.0 s",
    ]


def test_a_map_tells_its_progress_by_tenths() -> None:
    work = programs.task("work")
    node = programs.node("n0", programs.mapped(work).id, array=ArraySpec(parallelism=7))
    world = Told(programs.program([programs.graph("wf", [node])], [programs.mapped(work)]), size=100)
    world.run()
    progress = [line for line in world.said if "done" in line]
    assert progress[0] == "n0 10 of 100 done, 0.5/s, 3 min 00 s left"
    assert progress[-1] == "n0 100 of 100 done"
    assert len(progress) == 10
    assert len(world.said) - len(progress) == 6, "no line for an element"


def test_a_child_execution_is_shown_under_its_node() -> None:
    work = programs.task("work")
    child = programs.graph("child", [programs.node("n0", work.id)])
    plan = programs.plan("plan", child)
    parent = programs.graph("parent", [programs.node("n4", plan.id)])
    world = Told(programs.program([parent, child], [work], [plan]))
    world.run()
    name = next(execution.name for execution in world.states if execution != EXECUTION)
    lines = [line for line in world.said if line.startswith("n4 ")]
    assert lines == [
        "n4 QUEUED launch plan plan",
        f"n4 execution {name} RUNNING launch plan plan",
        "n4 > n0 QUEUED task work",
        "n4 RUNNING",
        "n4 > n0 RUNNING",
        "n4 > n0 SUCCEEDED after 1.0 s",
        f"n4 execution {name} SUCCEEDED after 3.0 s",
        "n4 SUCCEEDED after 3.0 s",
    ]


def test_another_execution_of_the_home_is_not_shown() -> None:
    nobody: dict[ExecutionId, ExecutionState] = {}
    board = Board(nobody.get)
    world = Simulation(programs.chain(1))
    world.run()
    assert board.see([world.state.record], world.facts) is False
