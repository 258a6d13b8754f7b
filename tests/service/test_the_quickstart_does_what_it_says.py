"""The page docs/quickstart.md, step by step: its own source, its commands, what it says they print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.service.command import Propwash, propwash
from tests.service.serving import serving

__all__ = ["propwash"]
pytestmark = pytest.mark.service("flytekit")

PAGE = (Path(__file__).parents[2] / "docs" / "quickstart.md").read_text()
SHOPS = '["north", "south", "east"]'


def test_the_loop_of_an_author(propwash: Propwash) -> None:
    found = re.search(r"```python\n(.*?)```", PAGE, re.S)
    assert found is not None
    file = Path(propwash.folder) / "prices.py"
    file.write_text(found[1])
    failed = propwash("run", "prices.py", "compare", "--shops", SHOPS, "--name", "first")
    assert failed.code == 1
    assert "at node n1" in failed.err
    assert "First error, at n1[2]" in failed.err
    assert re.search(r'prices.py", line \d+, in discount', failed.err)
    assert "ZeroDivisionError" in propwash("logs", "first").out
    assert propwash("logs", "first", "n0[1]").out == "asking south\n"

    mended = re.search(r"by `(return .*?)`", PAGE)
    assert mended is not None
    file.write_text(found[1].replace("return 1 / price", mended[1]))
    table = propwash("recover", "first", "--dry-run").out
    for line in table.splitlines()[:4]:
        assert f"    {line}\n" in PAGE
    recovered = propwash("recover", "first", "--name", "second", "--json")
    assert recovered.document["outputs"] == {"o0": 0.5}
    changed = propwash("recover", "first", "--name", "third", "--package", "prices.py", "--json")
    assert changed.document["outputs"] == {"o0": 0.5}
    assert propwash("run", "prices.py", "compare", "--shops", '["south", "north"]', "--name", "again").code == 0
    assert "2 cached" in propwash("get", "again").out
    with serving(propwash):
        assert propwash("run", "prices.py", "compare", "--shops", '["north"]').code == 0
