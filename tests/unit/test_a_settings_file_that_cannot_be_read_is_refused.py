"""A file that is missing, no YAML, no map of sections, or ambiguous."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.load import SettingsError, load


def refused(path: Path) -> str:
    with pytest.raises(SettingsError) as caught:
        load(path, [], {})
    (problem,) = caught.value.problems
    return str(problem)


def test_a_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "missing.yaml"
    assert refused(path).startswith(f"file {path}: can't be read: ")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a: [", "is not valid YAML"),
        (b"\xff\xfe\xfa", "can't be read"),
        (b"- a\n- b\n", "expected a map of sections, found ['a', 'b']"),
        (b"array: {max_in_flight: 1}\narray: {max_in_flight: 2}\n", "'array' stands twice"),
        (b"? [a]\n: 1\n", "unhashable key"),
        (b"3: {}\n? 4\n", "4 = None"),
    ],
)
def test_a_file_that_is_no_map_of_sections(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "propwash.yaml"
    path.write_bytes(content)
    assert reason in refused(path)
