from __future__ import annotations

from pathlib import Path

import pytest

from engine.model.errors import BadInput
from engine.wire.inputs import read_inputs_file


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("in.json", '{"n": 3,\n "m": }', "{path}: line 2 column 7: Expecting value"),
        ("in.json", '{"n": 3, "n": 4}', '{path}: the key "n" occurs twice in one object'),
        ("in.json", '{"x": 1e999}', "{path}: 1e999 is too large for a float"),
        ("in.json", "[1]", "{path}: expected a mapping of input names to values, got [1]"),
        ("in.json", "[" * 100_000, "{path}: nested too deeply"),
        ("in.yaml", "n: 3\nm: [1\n", "{path}: line 3: "),
        ("in.yaml", "n: 3\nm: 1\nn: 4\n", '{path}: line 3: the key "n" occurs twice in one mapping'),
        ("in.yaml", "x: 1e999\n", "{path}: 1e999 is too large for a float"),
        ("in.yaml", "x: !!python/object:os.system {}\n", "{path}: line 1: could not determine a constructor"),
        ("in.yaml", "", "{path}: expected a mapping of input names to values, got null"),
        ("in.yaml", "1: a\n", "{path}: expected input names as keys, got 1"),
        ("in.yaml", "[" * 100_000, "{path}: nested too deeply"),
        ("in.yaml", "a: 1\n---\nb: 2\n", "{path}: line 2: but found another document"),
        ("in.yaml", "a: \x01\n", "{path}: unacceptable character"),
    ],
)
def test_message(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        read_inputs_file(path)
    assert str(caught.value).startswith(message.format(path=path))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"gone\.json can't be read: .*No such file"):
        read_inputs_file(tmp_path / "gone.json")


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "in.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match=r"can't be read: .*utf-8"):
        read_inputs_file(tmp_path / "in.json")
