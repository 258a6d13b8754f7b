"""What a board shows of a whole engine on memory adapters is what happened: live, afterwards and after a crash."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from engine.adapters.memory.runner import NoopRunner
from engine.adapters.memory.scripts import copies, takes
from engine.app import Engine
from engine.cli import board as boards
from engine.cli.board import Board
from engine.cli.live import LiveView
from engine.cli.past import board_of
from engine.cli.terminal import Terminal
from engine.cli.tree import choose, folded
from engine.cli.wording import progress
from engine.gateway.documents import Documents
from engine.loop.watchers import Watcher
from engine.model.graph import ArraySpec, Program
from engine.model.ids import ExecutionId
from engine.model.state import Execution, Fact
from tests import programs
from tests.flow.engines import EXECUTION, World
from tests.flow.test_a_crash_at_any_hook_loses_nothing import PowerCut, cut_at
from tests.flow.test_a_workflow_runs_to_its_end import ints

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


def nested(count: int, *, children: bool) -> Program:
    """A chain of sub-workflows, or of child executions, with a sub-workflow of one task in each."""
    work = programs.task("work")
    leaf = programs.graph("leaf", [programs.node("n0", work.id, bindings=[programs.constant("a", 1)])])
    inner = programs.graph("inner", [programs.node("n0", leaf.id)])
    plan = programs.plan("plan", inner)
    target = plan.id if children else inner.id
    nodes = [programs.node(f"n{k}", target, after=[f"n{k - 1}"] if k else []) for k in range(count)]
    return programs.program([programs.graph("wf", nodes), inner, leaf], [work], [plan])


def seen_by(board: Board) -> Watcher:
    def see(executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
        board.see(executions, facts)

    return see


async def watched(engine: Engine, world: World, executions: Sequence[ExecutionId]) -> Board:
    """The board of a run to its end."""
    board = Board(engine.residents.get)
    with engine.watchers.watching(seen_by(board)):
        for execution in executions:
            board.follow(execution)
        await engine.submit(EXECUTION, world.first, world.program.digest, b"")
        await engine.wait(EXECUTION)
    return board


def shape(board: Board) -> list[tuple[int, str, str]]:
    rows, hidden = choose(board)
    assert not hidden
    return [(row.depth, row.label, row.child) for row in rows]


async def test_what_is_shown_live_is_what_is_shown_of_the_past() -> None:
    world = World(nested(2, children=True))
    async with world.engine() as engine:
        shown = shape(await watched(engine, world, [EXECUTION]))
    assert [line[:2] for line in shown] == [(0, "n0"), (1, "n0"), (2, "n0/0/n0"), (0, "n1"), (1, "n0"), (2, "n0/0/n0")]
    snapshot = await world.log.snapshot(EXECUTION)
    assert snapshot is not None
    # The program is not in this store: the past is shown without it.
    assert shape(await board_of(Documents(world.log, world.blobs, Path("/somewhere/home")), snapshot)) == shown


async def test_what_was_put_aside_until_the_first_look_is_counted_once() -> None:
    world = World(nested(3, children=True))
    async with world.engine() as engine:
        board = Board(engine.residents.get)
        view = LiveView(board, lambda: 0.0, Terminal(io.StringIO()))

        def see(executions: Sequence[Execution], facts: Sequence[Fact]) -> None:
            view.see(executions, facts)

        with engine.watchers.watching(see):
            board.follow(EXECUTION)
            await engine.submit(EXECUTION, world.first, world.program.digest, b"")
            await engine.wait(EXECUTION)
    assert len(view.picture()) == 9
    assert folded(board.ended) == "… 9 nodes done"


@pytest.mark.parametrize("count", range(1, 7))
async def test_what_a_dead_engine_left_is_counted_once(count: int) -> None:
    world = World(nested(3, children=False))
    world.runner.script = takes(1.0, copies(world.blobs))
    world.hook = cut_at("after_commit", count)
    with pytest.raises(BaseExceptionGroup) as caught:
        await world.run()
    assert caught.group_contains(PowerCut)
    world.crash()
    world.hook = lambda place: None
    async with world.engine() as engine:
        board = await watched(engine, world, [*engine.unfinished(), EXECUTION])
    assert folded(board.ended) == "… 9 nodes done"
    assert [label for _, label, _ in shape(board)][:4] == ["n0", "n0/0/n0", "n0/0/n0/0/n0", "n1"]


async def test_executions_that_ended_long_ago_are_only_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "KEPT", 20)
    world = World(nested(10, children=True))
    async with world.engine() as engine:
        board = await watched(engine, world, [EXECUTION])
    rows, hidden = choose(board)
    assert folded(board.ended) == "… 30 nodes done"
    assert folded(hidden) == f"… {30 - len(rows)} nodes done"
    assert [row.label for row in rows if row.depth == 0] == [f"n{k}" for k in range(10)]
    assert rows[-1].label == "n0/0/n0", "the last child is still shown"
    assert rows[1].depth == 0, "the first is not"


async def test_an_element_that_waits_for_a_slot_does_not_run() -> None:
    work = programs.task("work")
    face = programs.interface({"xs": programs.list_of(programs.INT)})
    many = programs.node(
        "n0", programs.mapped(work).id, array=ArraySpec(), bindings=[programs.promise("a", "start-node", "xs")]
    )
    world = World(programs.program([programs.graph("wf", [many], face=face)], [programs.mapped(work)]))
    world.runner = NoopRunner(takes(10.0, copies(world.blobs)), max_concurrent=3)
    async with world.engine() as engine:
        board = Board(engine.residents.get)
        with engine.watchers.watching(seen_by(board)):
            board.follow(EXECUTION)
            await engine.submit(EXECUTION, world.first, world.program.digest, ints(xs=list(range(10))))
            await anyio.sleep(15.0)
            (row,) = choose(board)[0]
            elements = row.node.elements
            assert elements is not None
            assert elements.live == 7
            assert progress(row.node, row.node.started_at + 15.0) == "3 of 10 done, 3 running, 0.2/s, 35 s left"
            await engine.wait(EXECUTION)
    assert progress(choose(board)[0][0].node, 0.0) == "10 of 10 done, 0.25/s"
