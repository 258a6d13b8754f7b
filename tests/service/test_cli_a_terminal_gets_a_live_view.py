"""On a terminal the nodes are redrawn in place, with the progress of maps; the last picture stays."""

from __future__ import annotations

import os
import pty
import re

import pytest

from tests.service.command import Propwash, endings, propwash

__all__ = ["endings", "propwash"]
pytestmark = pytest.mark.service("flytekit")

CONTROL = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


def on_a_terminal(propwash: Propwash, *words: str) -> str:
    """What the command writes to a terminal of 120 by 40, without control sequences."""
    ours, theirs = pty.openpty()
    try:
        done = propwash(*words, stdout=os.ttyname(theirs), environ={"TERM": "xterm", "COLUMNS": "120", "LINES": "40"})
        assert done.code == 0, done
        os.set_blocking(ours, False)
        written = b""
        while True:
            try:
                written += os.read(ours, 65536)
            except BlockingIOError:
                return CONTROL.sub(b"", written).decode()
    finally:
        os.close(ours)
        os.close(theirs)


def test_the_last_picture_shows_every_node(propwash: Propwash, endings: str) -> None:
    shown = on_a_terminal(
        propwash, "run", "--name", "seen", "--code-root", endings, endings, "all_even", "--ns", "[2, 4, 6]"
    )
    lines = [line.strip() for line in re.split(r"[\r\n]+", shown) if line.strip()]
    rows = [line for line in lines if line.startswith("n0 ")]
    assert re.fullmatch(r"n0 +array +SUCCEEDED +[\d.]+ m?s +refuse_odd +3 of 3 done, [\d.]+/s", rows[-1])
    assert lines[lines.index(rows[-1]) + 1] == "{", "the outputs follow the last picture"
    assert lines[0] == "execution seen", "whoever left the name to chance learns it while it runs"
    assert any("RUNNING" in row for row in rows)
