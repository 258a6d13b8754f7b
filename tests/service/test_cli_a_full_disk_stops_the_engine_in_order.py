"""A log that can't be written any more: exit code 3, how to go on, and a resume that finishes the work."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.service.command import LIMIT_SECONDS, Propwash, endings, propwash

__all__ = ["endings", "propwash"]
pytestmark = pytest.mark.service("flytekit")

BLOCKS = 150
"""The largest file, in units of 512 or 1024 bytes: the write-ahead log outgrows it soon."""


def test_the_engine_stops_and_a_resume_goes_on(propwash: Propwash, endings: str) -> None:
    numbers = json.dumps([2 * n for n in range(60)])
    words = [propwash.program, "run", "--json", "--name", "big", "--code-root", endings, endings, "all_even"]
    done = subprocess.run(
        ["sh", "-c", f'ulimit -f {BLOCKS}; exec "$@"', "sh", *words, "--ns", numbers],
        cwd=propwash.folder,
        env=propwash.environ(),
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert f"the engine had to stop: the log {propwash.home / 'log.db'} can't be written" in done.stderr
    assert done.stderr.endswith(f"execution big goes on with: propwash resume --home {propwash.home}\n")
    (document,) = propwash("resume", "--json").document
    assert (document["phase"], document["outputs"]) == ("SUCCEEDED", {"o0": json.loads(numbers)})
