"""Whoever begins to watch is told at once what the execution is doing, and not only what it does next."""

from __future__ import annotations

from pathlib import Path

import pytest
from anyio.lowlevel import checkpoint

from engine.cli.board import Board
from engine.cli.lines import Lines
from engine.cli.standing import standing
from engine.cli.views import showing
from tests import programs
from tests.flow.asking import answer, publish
from tests.flow.engines import EXECUTION, World
from tests.flow.test_gates_are_answered_from_outside import _asking
from tests.flow.test_signals_may_be_given_by_events import given

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(20)]


async def test_its_phase_and_what_runs_come_first() -> None:
    world = World(_asking())
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, "digest", b"")
        publish(world, given("number", value="x", request="r"))
        await answer(world)
        state = engine.residents.get(EXECUTION)
        assert state is not None
        while not state.live:
            await checkpoint()
        board = Board(engine.residents.get)
        lines = Lines(board)
        board.follow(EXECUTION)
        told = lines.see(*standing(state, 0.0))
        assert told[0].startswith(f"execution {EXECUTION.name} RUNNING ")
        assert [line.split()[:2] for line in told[1:]] == [[path, state.nodes[path].phase.name] for path in state.live]
        assert len(told) > 1


@pytest.mark.parametrize("steps", range(0, 60, 3))
async def test_nothing_is_told_twice_whenever_it_begins(steps: int, capsys: pytest.CaptureFixture[str]) -> None:
    world = World(programs.chain(3))
    async with world.engine() as engine:
        await engine.submit(EXECUTION, world.first, world.program.digest, b"")
        for _ in range(steps):
            await checkpoint()
        async with showing(engine, [EXECUTION], Path("/home")):
            assert (await engine.wait(EXECUTION)).phase.value == "SUCCEEDED"
    lines = capsys.readouterr().out.splitlines()
    assert sorted(set(lines)) == sorted(lines)
