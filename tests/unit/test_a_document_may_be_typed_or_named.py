from __future__ import annotations

from pathlib import Path

import pytest

from engine.model.errors import BadInput
from engine.wire.literals import to_literal
from engine.wire.natural import natural
from tests.literal_types import INNER, INT, list_of, record


def test_the_name_of_a_json_or_yaml_file(tmp_path: Path) -> None:
    (tmp_path / "xs.json").write_text("[1, 2]")
    (tmp_path / "config.yaml").write_text("a: 1\nb: 2\n")
    assert natural(to_literal(f"{tmp_path}/xs.json", list_of(INT), "--xs")) == [1, 2]
    assert natural(to_literal(f"{tmp_path}/config.yaml", record(INNER), "--c")) == {"a": 1, "b": 2.0}


def test_a_named_file_that_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "xs.json").write_text("[1,")
    with pytest.raises(BadInput, match=rf"expected list\[int\], got .*: {tmp_path}/xs.json: line 1 column 4"):
        to_literal(f"{tmp_path}/xs.json", list_of(INT), "--xs")
