from __future__ import annotations

import time

import pytest

from engine.wire.moments import instant_text, parse_instant


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-05-17", "2024-05-17T00:00:00Z"),
        ("2024-05-17T09:30", "2024-05-17T09:30:00Z"),
        ("2024-05-17 09:30:01", "2024-05-17T09:30:01Z"),
        ("2024-05-17T09:30:01Z", "2024-05-17T09:30:01Z"),
        ("2024-05-17T09:30:01+02:00", "2024-05-17T07:30:01Z"),
        ("2024-05-17T09:30:01.5-0030", "2024-05-17T10:00:01.500000Z"),
        ("2024-05-17T09:30:01.123456", "2024-05-17T09:30:01.123456Z"),
        ("2024-05-17T09:30:01.123456789Z", "2024-05-17T09:30:01.123456789Z"),
        ("1969-12-31T23:59:59.999999", "1969-12-31T23:59:59.999999Z"),
        ("0001-01-01", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
        ("2024-05-17T09:30:00Z - 1d", "2024-05-16T09:30:00Z"),
        ("2024-05-17 + PT1H", "2024-05-17T01:00:00Z"),
    ],
)
def test_instant(text: str, expected: str) -> None:
    assert instant_text(parse_instant(text)) == expected


@pytest.mark.parametrize(
    "text", ["", "soon", "2024-13-01", "17 May 2024", "2024-05-17T25:00", "0001-01-01T00:00:00+01:00", "now - soon"]
)
def test_no_instant(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_instant(text)


def test_now_is_the_clock_of_the_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_715_938_200_123_456_789)
    assert instant_text(parse_instant("now")) == "2024-05-17T09:30:00.123456Z"
    assert instant_text(parse_instant("today")) == "2024-05-17T00:00:00Z"
    assert instant_text(parse_instant("now - 1 day")) == "2024-05-16T09:30:00.123456Z"
