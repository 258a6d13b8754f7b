from __future__ import annotations

import pytest

from engine.wire.moments import parse_duration

SECOND = 10**9


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("0.1", 0.1),
        ("90s", 90),
        (":22", 22),
        ("1:24", 84),
        ("1:30:00", 5400),
        ("2:99", 219),
        ("4:13:02.25", 15182.25),
        ("1h30m", 5400),
        ("1 hour 30 min", 5400),
        ("1 hr, 2 mins", 3720),
        ("1.5h", 5400),
        ("1w", 604800),
        ("3 wks", 1814400),
        ("2 days, 4:13:02", 187982),
        ("-1h", -3600),
        ("- 1:30", -90),
        ("+ 1H", 3600),
        ("250 ms", 0.25),
        ("PT1H30M", 5400),
        ("pt0.5s", 0.5),
        ("P1DT1S", 86401),
        ("P2W", 1209600),
        ("-PT1S", -1),
    ],
)
def test_duration(text: str, seconds: float) -> None:
    assert parse_duration(text) == round(seconds * SECOND)


@pytest.mark.parametrize(
    "text",
    ["", "soon", "1h 2", "1m30", "1 mo", "P", "PT", "P1Y", "P1M", "1h:30m", "1:2:3:4", "--1h", "9999999w", "nan"],
)
def test_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_duration(text)
