"""User case S30: what a part of a service raises ends the process, and is seen; no half of it stays alive."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.service

SERVICE = """
import sys
from pathlib import Path

import anyio

from config.settings import Settings
from engine.cli.session import run_session
from engine.cli.verdict import Context, exit_code
from engine.homes import open_home

async def fails(engine):
    await anyio.sleep(0.1)
    raise ZeroDivisionError("a door fell out of its frame")

async def command(session):
    async with open_home(Path(sys.argv[1]), Settings(), service=fails):
        await anyio.sleep_forever()

try:
    code = run_session(command)
except BaseException as error:
    code = exit_code(error, Context())
sys.exit(code)
"""


def test_a_door_that_fails(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for _ in range(2):  # and the next engine finds nothing locked
        words = [sys.executable, "-c", SERVICE, str(home)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 70, done.stderr
        assert "Traceback" in done.stderr
        assert "in fails\n" in done.stderr
        assert done.stderr.endswith("ZeroDivisionError: a door fell out of its frame\n")
        assert not (home / "control.sock").exists()
