"""Who submits and follows may look before the engine has taken that in: the log knows no such execution yet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.cli import watch
from engine.homes import HomeView
from engine.model.ids import ExecutionId
from engine.model.phases import ExecutionPhase
from tests import programs
from tests.flow.engines import EXECUTION, World

pytestmark = pytest.mark.timeout(20)


@pytest.mark.parametrize("quiet", [True, False])
async def test_it_is_shown_from_its_beginning(
    quiet: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    world = World(programs.chain(2))

    async def follow(home: Path, execution: ExecutionId, moved: Callable[[], None]) -> ExecutionPhase:
        assert await world.log.snapshot(execution) is None
        await world.run()
        moved()
        return ExecutionPhase.SUCCEEDED

    monkeypatch.setattr(watch, "follow", follow)
    view = HomeView(world.log, world.blobs)
    assert await watch.watching(view, Path("/somewhere/home"), EXECUTION, quiet=quiet) is None
    shown = capfd.readouterr().out.splitlines()
    ends = [line.split(" after ")[0] for line in shown if " SUCCEEDED after " in line]
    assert ends == ([] if quiet else ["n0 SUCCEEDED", "n1 SUCCEEDED", f"execution {EXECUTION.name} SUCCEEDED"])
