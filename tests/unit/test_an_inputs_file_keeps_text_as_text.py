from __future__ import annotations

from pathlib import Path

import pytest

from engine.wire.inputs import read_inputs_file


def read(tmp_path: Path, name: str, text: str) -> dict[str, object]:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read_inputs_file(tmp_path / name)


def test_json(tmp_path: Path) -> None:
    assert read(tmp_path, "in.json", '\ufeff{"n": 3, "xs": [1.5, null], "s": "x"}') == {
        "n": 3,
        "xs": [1.5, None],
        "s": "x",
    }


def test_yaml_values(tmp_path: Path) -> None:
    text = "n: 3\nx: 1e-3\nxs: [1, 2.5, ~]\nflag: true\nconfig:\n  a: 1\nbig: .inf\nhex: 0x10\nempty:\n"
    assert read(tmp_path, "in.yaml", text) == {
        "n": 3,
        "x": 0.001,
        "xs": [1, 2.5, None],
        "flag": True,
        "config": {"a": 1},
        "big": float("inf"),
        "hex": 16,
        "empty": None,
    }


@pytest.mark.parametrize("text", ["2024-05-17", "2024-05-17T09:30:00Z", "1:30:00", "NO", "yes", "1_000", "="])
def test_yaml_leaves_to_the_type_what_a_text_means(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, "in.yml", f"x: {text}\nxs:\n- {text}\n") == {"x": text, "xs": [text]}


def test_yaml_numbers_are_decimal(tmp_path: Path) -> None:
    assert read(tmp_path, "in.yaml", "n: 010\nm: -7\nx: 1.10\n") == {"n": 10, "m": -7, "x": 1.1}


def test_yaml_anchors_and_merges(tmp_path: Path) -> None:
    text = "base: &base {a: 1, b: 2}\nmore:\n  <<: *base\n  b: 3\n"
    assert read(tmp_path, "in.yaml", text)["more"] == {"a": 1, "b": 3}
