"""What authors write as a schedule, and the times it stands for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engine.wire.cron import BadCron, next_time, read_cron, read_old_cron

AFTER = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


def times(expression: str, count: int) -> list[str]:
    found, at = [], AFTER.timestamp()
    for _ in range(count):
        following = next_time(expression, at)
        assert following is not None
        at = following
        found.append(datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M"))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*/20 * * * *", ["2026-01-31 12:20", "2026-01-31 12:40", "2026-01-31 13:00"]),
        ("@hourly", ["2026-01-31 13:00", "2026-01-31 14:00"]),
        ("@monthly", ["2026-02-01 00:00", "2026-03-01 00:00"]),
        ("0 6 * * MON-FRI", ["2026-02-02 06:00", "2026-02-03 06:00"]),
        ("0 0 29 2 *", ["2028-02-29 00:00"]),
        ("0 0 13 * FRI", ["2026-02-06 00:00", "2026-02-13 00:00", "2026-02-20 00:00"]),
    ],
)
def test_five_fields_and_aliases(text: str, expected: list[str]) -> None:
    assert times(read_cron(text), len(expected)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 10 * * ? *", ["2026-02-01 10:00"]),
        ("0 18 ? * 6#3 *", ["2026-02-20 18:00"]),
        ("0 18 ? * 6L *", ["2026-02-27 18:00"]),
        ("0 0 ? * SUN *", ["2026-02-01 00:00"]),
        ("0 8 1 * ? 2030", ["2030-01-01 08:00", "2030-02-01 08:00"]),
    ],
)
def test_six_fields_of_the_old_form(text: str, expected: list[str]) -> None:
    assert times(read_old_cron(text), len(expected)) == expected


def test_years_come_to_an_end() -> None:
    assert next_time(read_old_cron("0 8 1 * ? 2001"), AFTER.timestamp()) is None


@pytest.mark.parametrize("text", ["", "* * * *", "0 25 * * *", "0 0 30 2 *", "@never", "0 0 * * * *"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(BadCron, match=r"is no cron expression|stands for no time"):
        read_cron(text)


@pytest.mark.parametrize("text", ["* * * * *", "0 8 X * ? *", "0 8 29 2 ? 2001"])
def test_what_is_no_old_expression_is_refused(text: str) -> None:
    with pytest.raises(BadCron, match=r"is no cron expression|stands for no time"):
        read_old_cron(text)
