from __future__ import annotations

import pytest

from engine.ports.taskrunner import ExitReason
from tests.contract.runner_adapters import EXITS_0, EXITS_3, IS_KILLED, IS_NO_PROGRAM, RunnerWorld


@pytest.mark.parametrize(
    ("what", "reason", "code"),
    [
        (EXITS_0, ExitReason.EXITED, 0),
        (EXITS_3, ExitReason.EXITED, 3),
        (IS_KILLED, ExitReason.SIGNALLED, 9),
    ],
)
async def test_by_itself(runner_world: RunnerWorld, what: tuple[str, ...], reason: ExitReason, code: int) -> None:
    calls: list[str] = []
    async with runner_world.runner() as runner:
        ended = await runner.run(runner_world.request(what), lambda: calls.append("started"))
    assert (ended.reason, ended.code) == (reason, code)
    assert calls == ["started"]


async def test_what_can_not_be_started_is_refused_by_name(runner_world: RunnerWorld) -> None:
    calls: list[str] = []
    async with runner_world.runner() as runner:
        ended = await runner.run(runner_world.request(IS_NO_PROGRAM), lambda: calls.append("started"))
    assert ended.reason is ExitReason.REFUSED
    assert "no-such-program" in ended.message
    assert calls == []
