"""The tree, line by line: nested nodes and child executions below their own, tries, times, progress of maps."""

from __future__ import annotations

from msgspec import structs

from engine.cli.board import Board
from engine.cli.tree import Tree, choose
from engine.cli.wording import cached, progress
from engine.model.cache import CacheStatus
from engine.model.errors import Failure
from engine.model.graph import ArraySpec, Program
from engine.model.ids import AttemptKey
from tests import programs
from tests.simulation import EXECUTION, Script, Simulation, recoverable, user_error


def tree(program: Program, script: Script = lambda key: None, size: int = 0, steps: int | None = None) -> list[str]:
    world = Simulation(program, script, size=size)
    if steps is None:
        world.run()
    for _ in range(steps or 0):
        world.deliver()
    board = Board(world.states.get)
    for execution in world.states:
        board.follow(execution)
    rows, hidden = choose(board)
    assert not hidden
    name = next((execution.name for execution in world.states if execution != EXECUTION), "?")
    return [line.replace(name, "CHILD") for line in Tree().lines(rows, world.now)]


def test_what_a_node_contains_or_started_is_indented_below_it() -> None:
    work = programs.task("flows.work")
    leaf = programs.graph("leaf", [programs.node("n0", work.id), programs.node("n1", work.id, after=["n0"])])
    inner = programs.graph("inner", [programs.node("n0", leaf.id)])
    plan = programs.plan("plan", leaf)
    nodes = [programs.node("n0", inner.id), programs.node("n1", plan.id, after=["n0"]), programs.node("n2", work.id)]
    program = programs.program([programs.graph("wf", nodes), inner, leaf], [work], [plan])
    assert tree(program) == [
        "n0                sub-workflow  SUCCEEDED  6.0 s  inner",
        "  n0/0/n0         sub-workflow  SUCCEEDED  6.0 s  leaf",
        "    n0/0/n0/0/n0  task          SUCCEEDED  1.0 s  work",
        "    n0/0/n0/0/n1  task          SUCCEEDED  1.0 s  work",
        "n1                launch plan   SUCCEEDED  5.0 s  plan   execution CHILD",
        "  n0              task          SUCCEEDED  1.0 s  work",
        "  n1              task          SUCCEEDED  1.0 s  work",
        "n2                task          SUCCEEDED  1.0 s  work",
    ]


def test_a_node_that_is_tried_again() -> None:
    def script(key: AttemptKey) -> Failure | str:
        return "hang" if key.attempt == 2 else recoverable()

    assert tree(programs.chain(1, retries=2), script) == ["n0  task  RUNNING  4.0 s  work  attempt 3"]
    ended = tree(programs.chain(1, retries=1), lambda key: None if key.attempt else recoverable())
    assert ended == ["n0  task  SUCCEEDED  3.0 s  work  2 attempts"]


def mapped() -> Program:
    work = programs.task("work")
    node = programs.node("n0", programs.mapped(work).id, array=ArraySpec(parallelism=4))
    return programs.program([programs.graph("wf", [node])], [programs.mapped(work)])


def test_a_map_shows_how_far_it_is() -> None:
    half = tree(mapped(), size=10, steps=12)
    assert half == [
        "n0  array  RUNNING  11 s  map_work-arraynode  █████░░░░░ 5 of 10 done, 1 running, 0.45/s, 11 s left"
    ]
    assert tree(mapped(), size=10) == ["n0  array  SUCCEEDED  21 s  map_work-arraynode  10 of 10 done, 0.48/s"]


def test_a_map_that_failed_counts_what_failed_and_not_what_was_stopped() -> None:
    failed = tree(mapped(), lambda key: user_error() if key.index == 2 else None, size=10)
    assert failed == ["n0  array  FAILED  9.0 s  map_work-arraynode  3 of 10 done, 1 of them failed, 0.33/s"]


def test_lines_are_cut_to_the_terminal() -> None:
    world = Simulation(programs.chain(1)).run()
    board = Board(world.states.get)
    board.follow(EXECUTION)
    rows, _ = choose(board)
    for columns in range(1, 40):
        (line,) = Tree().lines(rows, world.now, columns)
        assert len(line) <= columns
    assert Tree().lines(rows, world.now, 14) == ["n0  task  SUC…"]


def test_columns_only_grow() -> None:
    long, short = (Simulation(programs.chain(count)).run() for count in (11, 1))
    drawn = Tree()
    for world in (long, short):
        board = Board(world.states.get)
        board.follow(EXECUTION)
        lines = drawn.lines(choose(board)[0], world.now)
    assert lines == ["n0   task  SUCCEEDED  1.0 s  work"]


def test_what_came_from_the_cache_is_said() -> None:
    world = Simulation(programs.chain(1)).run()
    node = world.states[EXECUTION].nodes["n0"]
    told = {status: cached(structs.replace(node, cache=status)) for status in (None, *CacheStatus)}
    assert told == {
        None: "",
        CacheStatus.HIT: "cached",
        CacheStatus.MISS: "",
        CacheStatus.SKIPPED: "overwrites the cache",
        CacheStatus.LOOKUP_FAILURE: "the cache could not be asked",
        CacheStatus.POPULATED: "",
        CacheStatus.PUT_FAILURE: "its result could not be cached",
    }
    world.states[EXECUTION].nodes["n0"] = structs.replace(node, cache=CacheStatus.HIT)
    board = Board(world.states.get)
    board.follow(EXECUTION)
    assert Tree().lines(choose(board)[0], world.now) == ["n0  task  SUCCEEDED  1.0 s  work  cached"]


def test_a_map_counts_its_cached_elements() -> None:
    world = Simulation(mapped(), size=4).run()
    node = world.states[EXECUTION].nodes["n0"]
    assert node.elements is not None
    hits = structs.replace(node, elements=structs.replace(node.elements, cached=3))
    assert progress(hits, world.now, 0) == "4 of 4 done, 3 cached"
