"""A module that never ends its import, and whatever it started, must not outlive an engine that was killed."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from tests.service.lifeline import lifeline

pytestmark = pytest.mark.service("flytekit")

ENDLESS = """
import os, time
line = open({line!r}, "w")
who = "child" if os.fork() == 0 else "module"
line.write(who + "\\n")
line.flush()
time.sleep(3600)
"""
READ = """
import anyio, sys
from pathlib import Path
from engine.wire.packaging import package_file
anyio.run(package_file, Path(sys.argv[1]))
"""


async def test_a_killed_engine_ends_the_import_that_it_waits_for(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    async with lifeline(tmp_path) as line:
        (tmp_path / "wf.py").write_text(ENDLESS.format(line=str(line)))
        words = [sys.executable, "-c", READ, str(tmp_path / "wf.py")]
        env = {**os.environ, "TMPDIR": str(temporary)}
        async with await anyio.open_process(words, stdout=None, stderr=None, env=env) as process:
            await line.says("child", "module")
            process.send_signal(signal.SIGKILL)
            await line.end()
    assert list(temporary.iterdir()) == []
