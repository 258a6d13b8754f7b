"""Points in time and durations as people write them. Numbers are whole nanoseconds: what a protobuf message can hold.

The duration texts are those of `pyflyte run` (`1h30m`, `1 hour 30 min`, `1:30:00`, `:22`, `2 days, 4:13:02`; a minus in
front negates the whole), and ISO 8601 (`PT1H30M`), and a plain number of seconds. All parsers raise ValueError.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from fractions import Fraction

SECOND = 10**9
_DAY_SECONDS = 86_400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_INSTANT = -62_135_596_800 * SECOND
_LAST_INSTANT = 253_402_300_800 * SECOND - 1
"""Years 1 to 9999: the range of google.protobuf.Timestamp."""
_LONGEST = 315_576_000_000 * SECOND
"""About 10,000 years: the range of google.protobuf.Duration."""

_UNIT_SECONDS = {
    Fraction(604_800): ("w", "wk", "wks", "week", "weeks"),
    Fraction(_DAY_SECONDS): ("d", "day", "days"),
    Fraction(3_600): ("h", "hr", "hrs", "hour", "hours"),
    Fraction(60): ("m", "min", "mins", "minute", "minutes"),
    Fraction(1): ("s", "sec", "secs", "second", "seconds"),
    Fraction(1, 1_000): ("ms",),
    Fraction(1, 1_000_000): ("us",),
}
_UNITS = {name: seconds for seconds, names in _UNIT_SECONDS.items() for name in names}
_NUMBER = r"(?:\d+(?:\.\d+)?|\.\d+)"
_PLAIN = re.compile(rf"{_NUMBER}\Z", re.ASCII)
_TERM = re.compile(rf"[\s,]*({_NUMBER})\s*([a-z]+)", re.ASCII)
_CLOCK = re.compile(r"(?:(\d+):)?(\d*):(\d{1,2}(?:\.\d+)?)\Z", re.ASCII)
_ISO_UNITS = "".join(f"(?:({_NUMBER}){unit})?" for unit in "wd"), "".join(f"(?:({_NUMBER}){unit})?" for unit in "hms")
_ISO = re.compile(rf"p{_ISO_UNITS[0]}(?:t(?=[\d.]){_ISO_UNITS[1]})?\Z", re.ASCII)
_MOVED = re.compile(r"(.+?)\s+([-+])\s+(.+)\Z")
_FRACTION = re.compile(r"([^Tt ]+[Tt ]\d\d:?\d\d:?\d\d)[.,](\d+)(.*)\Z", re.ASCII)


def parse_instant(text: str) -> int:
    """Nanoseconds since the epoch of an ISO 8601 text (UTC where it names no zone), `now`, `today`, or `now - 1d`."""
    text = text.strip()
    if moved := _MOVED.match(text):
        step = parse_duration(moved[3])
        return _in_range(parse_instant(moved[1]) + (step if moved[2] == "+" else -step))
    if text == "now":
        return time.time_ns() // 1_000 * 1_000
    if text == "today":
        return time.time_ns() // (_DAY_SECONDS * SECOND) * (_DAY_SECONDS * SECOND)
    nanos = 0
    if fraction := _FRACTION.match(text):
        text = fraction[1] + fraction[3]
        nanos = int(fraction[2][:9].ljust(9, "0"))
    return _in_range(instant_of(datetime.fromisoformat(text)) + nanos)


def instant_of(moment: datetime) -> int:
    """Nanoseconds since the epoch; a moment without a zone is UTC, as flytekit reads it."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return duration_of(aware - _EPOCH)


def duration_of(delta: timedelta) -> int:
    return (delta // timedelta(microseconds=1)) * 1_000


def instant_text(nanoseconds: int) -> str:
    """ISO 8601 in UTC with `Z`; 0, 6 or 9 digits of a second, as needed. Raises ValueError after the year 9999."""
    seconds, nanos = divmod(_in_range(nanoseconds), SECOND)
    moment = (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None)
    digits = "" if nanos == 0 else f".{nanos // 1_000:06}" if nanos % 1_000 == 0 else f".{nanos:09}"
    return f"{moment.isoformat()}{digits}Z"


def parse_duration(text: str) -> int:
    """Nanoseconds of a duration text."""
    body = text.strip().lower()
    negative = body.startswith("-")
    body = body[1:].lstrip() if body[:1] in ("-", "+") else body
    if _PLAIN.match(body):
        seconds = Fraction(body)
    elif body.startswith("p"):
        seconds = _iso_seconds(body)
    else:
        seconds = _worded_seconds(body)
    return duration_from_seconds(-seconds if negative else seconds)


def duration_from_seconds(seconds: int | float | Fraction) -> int:
    """Nanoseconds, from the shortest decimal that stands for a float: 0.1 is exactly 100,000,000."""
    try:
        exact = Fraction(repr(seconds)) if isinstance(seconds, float) else Fraction(seconds)
    except ValueError:
        raise ValueError(f"{seconds} is no length of time") from None
    nanoseconds = round(exact * SECOND)
    if abs(nanoseconds) > _LONGEST:
        raise ValueError("longer than 10,000 years")
    return nanoseconds


def seconds_number(nanoseconds: int) -> int | float:
    """Seconds: a whole number where it is one."""
    whole, rest = divmod(nanoseconds, SECOND)
    return nanoseconds / SECOND if rest else whole


def _in_range(nanoseconds: int) -> int:
    if not _FIRST_INSTANT <= nanoseconds <= _LAST_INSTANT:
        raise ValueError("outside the years 1 to 9999")
    return nanoseconds


def _iso_seconds(body: str) -> Fraction:
    found = _ISO.match(body)
    if found is None or not any(found.groups()):
        raise ValueError("no ISO 8601 duration of weeks, days, hours, minutes and seconds")
    return sum(
        (Fraction(part) * _UNITS[unit] for part, unit in zip(found.groups(), "wdhms", strict=True) if part), Fraction(0)
    )


def _worded_seconds(body: str) -> Fraction:
    """`1 hour 30 min`, `1:30:00`, or both: `2 days, 4:13:02`."""
    seconds, position = Fraction(0), 0
    while term := _TERM.match(body, position):
        if term[2] not in _UNITS:
            raise ValueError(f"{term[2]!r} is no unit of time")
        seconds += Fraction(term[1]) * _UNITS[term[2]]
        position = term.end()
    rest = body[position:].lstrip(" ,")
    if not rest and position:
        return seconds
    clock = _CLOCK.match(rest)
    if clock is None:
        raise ValueError("no duration such as 90s, 1h30m, 1:30:00 or PT1H30M")
    hours, minutes, last = clock.groups()
    return seconds + Fraction(hours or 0) * 3_600 + Fraction(minutes or 0) * 60 + Fraction(last)
