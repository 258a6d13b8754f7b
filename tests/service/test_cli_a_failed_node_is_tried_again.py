"""`retry-node` by the real command: a node that failed succeeds at its second attempt while its sibling still runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.service.command import LIMIT_SECONDS, WORKFLOWS, Propwash, propwash

__all__ = ["propwash"]
pytestmark = pytest.mark.service("flytekit")

FILE = str(WORKFLOWS / "recovering.py")


def _until(process: subprocess.Popen[str], begin: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(begin):
            return
    raise AssertionError(f"no line {begin!r}")


def test_while_the_execution_runs(propwash: Propwash) -> None:
    folder = propwash.folder
    with propwash.started("run", FILE, "goes_on", "--name", "g", "--folder", str(folder)) as process:
        _until(process, "n1 SKIPPED")
        early = propwash("retry-node", "g", "n2")
        assert early.code == 2
        assert "only a node that has failed can be tried again: n0 has" in early.err
        Path(folder / "mended").touch()
        asked = propwash("retry-node", "g", "n0")
        assert (asked.code, asked.out) == (0, "node n0 of execution g is tried again\n")
        _until(process, "n1 SUCCEEDED")
        Path(folder / "go").touch()
        _, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, err
    document = propwash("get", "g", "--json").document
    assert document["outputs"] == {"o0": 81}
    assert document["nodes"][0]["attempts"] == 2
    assert propwash("check").code == 0
    late = propwash("retry-node", "g", "n0")
    assert (late.code, "execution g is SUCCEEDED" in late.err) == (2, True)


def test_of_a_map_the_elements_that_failed(propwash: Propwash) -> None:
    folder = propwash.folder
    words = ("run", FILE, "maps_go_on", "--name", "m", "--folder", str(folder), "--xs", "[1, 2, 3]")
    with propwash.started(*words) as process:
        _until(process, "n1 SKIPPED")
        Path(folder / "mended").touch()
        assert propwash("retry-node", "m", "n0").code == 0
        _until(process, "n1 SUCCEEDED")
        Path(folder / "go").touch()
        _, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, err
    assert propwash("get", "m", "--json").document["outputs"] == {"o0": 14}
    assert Path(folder / "ran").read_text() == "square 1\nsquare 2\nsquare 3\nsquare 3\n"
    assert "2 taken over" in propwash("get", "m").out
    assert propwash("check").code == 0
    assert propwash("replay", "m").code == 0
