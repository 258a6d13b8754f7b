"""Sizes in settings are bytes, or numbers with a decimal or binary unit."""

from __future__ import annotations

import pytest

from config.values import parse_size, size_text


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (0, 0),
        (12345, 12345),
        ("12345", 12345),
        ("12B", 12),
        ("500kB", 500_000),
        ("3MB", 3_000_000),
        ("2GB", 2_000_000_000),
        ("1KiB", 1024),
        ("10MiB", 10_485_760),
        ("10 MiB", 10_485_760),
        ("1.5GiB", 1_610_612_736),
        ("0MiB", 0),
    ],
)
def test_a_size_is_read(text: object, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", [-1, "-1MiB", True, None, 1.5, "", "MiB", "10mib", "10 Mb", "1.5", "0.0001kB", "1e3", "10MiB ", "x"]
)
def test_anything_else_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="should be a size"):
        parse_size(text)


@pytest.mark.parametrize("size", [0, 1, 1000, 1024, 10 * 2**20, 2**31 - 1, 3 * 2**30])
def test_a_size_as_written_is_read_back(size: int) -> None:
    assert parse_size(size_text(size)) == size


def test_a_size_is_written_with_the_largest_unit_that_divides_it() -> None:
    assert [size_text(size) for size in (10 * 2**20, 1536, 1000)] == ["10MiB", "1536", "1000"]
