"""`propwash ... | head`: a reader that goes away is no error, and never stops an execution."""

from __future__ import annotations

import pytest

from tests.service.command import LIMIT_SECONDS, Propwash, endings, propwash

__all__ = ["endings", "propwash"]
pytestmark = pytest.mark.service("flytekit")


def test_the_execution_goes_on(propwash: Propwash, endings: str) -> None:
    with propwash.started("run", "--name", "unread", "--code-root", endings, endings, "doubled") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(timeout=LIMIT_SECONDS) == 0
    assert propwash("get", "unread", "--json").document["outputs"] == {"o0": 8}


def test_a_full_disk_behind_stdout_is_told(propwash: Propwash, endings: str) -> None:
    propwash("run", "--json", "--code-root", endings, endings, "doubled")
    done = propwash("list", stdout="/dev/full")
    assert (done.code, done.err) == (3, "Error: stdout can't be written: No space left on device\n")
