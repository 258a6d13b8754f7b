"""SIGTERM while calls that make pods have no answer yet: the engine leaves in time, and the next one loses nothing."""

from __future__ import annotations

import signal

import anyio
import pytest
from anyio import to_thread

from tests.service.command import played
from tests.service.test_pods_of_an_execution_go_with_it import Commands, commands

__all__ = ["commands", "played"]
pytestmark = [pytest.mark.service("kubernetes"), pytest.mark.service("flytekit")]
ELEMENTS = 6
STOP_SECONDS = 15.0
"""What the setting shutdown.deadline_seconds allows, and some for a slow machine."""


async def test_a_stop_in_the_middle_of_making_pods(commands: Commands) -> None:
    since = await commands.at.version()
    commands.proxy.before_answer = lambda request: anyio.sleep_forever() if request.creates_pod else None
    with commands.started("plain", "--ns", str([*range(ELEMENTS)])) as engine:
        await commands.at.until(lambda pods: len(pods) == ELEMENTS)
        engine.send_signal(signal.SIGTERM)
        code = await to_thread.run_sync(lambda: engine.wait(STOP_SECONDS))
    assert code == 128 + signal.SIGTERM
    commands.proxy.before_answer = lambda request: None
    assert await commands.resume() == 0
    assert await commands.outputs() == {"o0": [*range(ELEMENTS)]}
    seen = await commands.at.history(since)
    assert (len(seen.made), seen.twice, seen.deleted) == (ELEMENTS, [], set())
