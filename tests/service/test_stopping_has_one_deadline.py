"""Whatever hangs while a command stops: at the deadline the process leaves, with the exit code it had."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.service

HANGS = """
import sys
import anyio
from engine.cli.session import run_session

async def command(session):
    session.deadline_seconds = 0.1
    session.closing(7)
    with anyio.CancelScope(shield=True):
        await anyio.sleep_forever()

sys.exit(run_session(command))
"""
BLOCKS = HANGS.replace("await anyio.sleep_forever()", "import time; time.sleep(60)")


def run(script: str) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("script", [HANGS, BLOCKS])
def test_the_process_leaves_at_the_deadline(script: str) -> None:
    message = "stopping took longer than shutdown.deadline_seconds (0.1): left; the next resume does the rest\n"
    assert run(script) == (7, "", message)


def test_a_command_that_stops_in_time_is_left_alone() -> None:
    assert run(HANGS.replace("await anyio.sleep_forever()", "return 3")) == (3, "", "")
