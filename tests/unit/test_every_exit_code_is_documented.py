"""README.md lists the exit codes that the command has, and no others."""

from __future__ import annotations

import re
from pathlib import Path

from engine.cli.exitcodes import ExitCode

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_lists_exactly_the_exit_codes() -> None:
    rows = re.findall(r"^\| (\d+) \| .+ \|$", README.read_text(), flags=re.MULTILINE)
    assert [int(row) for row in rows] == [code.value for code in ExitCode]
