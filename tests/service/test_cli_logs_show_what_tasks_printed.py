"""`propwash logs`: what an attempt printed, byte by byte, of past executions and of one that runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.service.command import Propwash, endings, propwash

__all__ = ["endings", "propwash"]
pytestmark = pytest.mark.service("flytekit")
LOOKS = 20
"""What was printed is on its way to the file for a moment."""


def shown(propwash: Propwash, *options: str) -> str:
    """What is shown of node n0: without the empty line that flytekit itself prints first."""
    done = propwash("logs", "e1", "n0", *options)
    assert (done.code, done.err) == (0, ""), done
    return done.out


def test_the_output_of_every_attempt_is_shown(propwash: Propwash, endings: str) -> None:
    ran = propwash("run", "--name", "e1", "--code-root", endings, endings, "talks", "--n", "2")
    assert ran.code == 0, ran
    first, last = (shown(propwash, "--attempt", str(n)) for n in (1, 2))
    assert first.startswith("attempt 0 says 2\nattempt 0 complains\n")
    assert last == "attempt 1 says 2\nattempt 1 complains\n"
    assert shown(propwash) == last
    assert shown(propwash, "--stdout") == "attempt 1 says 2\n"
    assert shown(propwash, "--stderr") == "attempt 1 complains\n"
    wrong = propwash("logs", "e1", "n0", "--attempt", "3")
    assert (wrong.code, wrong.out) == (2, "")
    assert "node n0 of execution e1, which is SUCCEEDED, has had no attempt 3; there are 1 to 2" in wrong.err
    assert "there is no execution 'e2'" in propwash("logs", "e2", "n0").err


def test_much_output_comes_whole_and_a_reader_may_leave(propwash: Propwash, endings: str) -> None:
    ran = propwash("run", "--name", "e1", "--code-root", endings, endings, "floods", "--lines", "300000")
    assert ran.code == 0, ran
    assert shown(propwash) == "".join(f"line {k}\n" for k in range(300_000))
    with propwash.started("logs", "e1", "n0") as logs:
        assert logs.stdout is not None
        assert logs.stdout.read(7) == "line 0\n"
        logs.stdout.close()
        assert logs.wait(30) == 0
        assert logs.stderr is not None
        assert logs.stderr.read() == ""


def test_output_can_be_read_while_the_task_runs(propwash: Propwash, endings: str, tmp_path: Path) -> None:
    pipe = tmp_path / "gate"
    os.mkfifo(pipe)
    words = ("run", "--name", "e1", "--code-root", endings, endings, "talks_then_waits", "--path", str(pipe))
    with propwash.started(*words) as running:
        with open(pipe, "w"):  # opens when the task has opened it, which waits until it is closed again
            looks = (shown(propwash) for _ in range(LOOKS))
            assert next(filter(None, looks)) == "before\n"
        assert running.wait(60) == 0
    assert shown(propwash) == "before\nafter\n"
