"""Cron: from whatever an author of a launch plan may write to one expression, and to the times it stands for.

The only door of croniter, which flytekit itself checks schedules with. All times are UTC, as in Flyte.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from croniter import CroniterError, croniter

_ALIASES = {
    "hourly": "0 * * * *",
    "hours": "0 * * * *",
    "daily": "0 0 * * *",
    "days": "0 0 * * *",
    "weekly": "0 0 * * 0",
    "weeks": "0 0 * * 0",
    "monthly": "0 0 1 * *",
    "months": "0 0 1 * *",
    "annually": "0 0 1 1 *",
    "yearly": "0 0 1 1 *",
    "years": "0 0 1 1 *",
}
"""With or without a leading @, as Flyte knows them."""
_HORIZON_YEARS = 200
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC).timestamp()
_LAST = re.compile(r"(\d)L")
"""The last Friday is `6L` in the old form, `L5` here."""
_AWS_DAY = re.compile(r"(?<![#/\d])\d")
"""A day of the week in the old form, which counts from 1 = Sunday; not the n of `6#n` (the nth Friday)."""


class BadCron(ValueError):
    """Text that is no cron expression; the message says what is wrong with it."""


def read_cron(text: str) -> str:
    """The expression of a cron schedule: five fields, or an alias. Raises BadCron."""
    alias = _ALIASES.get(text.strip().removeprefix("@").lower())
    fields = (alias or text).split()
    if len(fields) != 5:
        raise BadCron(f"{text!r} is no cron expression: expected 5 fields or one of @{', @'.join(_ALIASES)}")
    return _checked(" ".join(fields), text)


def read_old_cron(text: str) -> str:
    """The expression of Flyte's deprecated `cron_expression`, which is that of AWS: six fields, the last one a year.

    `?` stands for any day, and days of the week count from 1 = Sunday. Raises BadCron.
    """
    fields = text.split()
    if len(fields) != 6:
        raise BadCron(f"{text!r} is no cron expression of the old form: expected 6 fields, the last one a year")
    minute, hour, day, month, weekday, year = (field.replace("?", "*") for field in fields)
    weekday = _LAST.sub(r"L\1", _AWS_DAY.sub(lambda found: str(int(found[0]) - 1), weekday))
    plain = f"{minute} {hour} {day} {month} {weekday}"
    return _checked(plain if year == "*" else f"{plain} 0 {year}", text)


def next_time(expression: str, after: float) -> float | None:
    """The first time of an expression of `read_cron` or `read_old_cron` that is later than `after`; None: no more.

    Seconds since the epoch.
    """
    try:
        found: float = _times(expression, after).get_next(float)
    except CroniterError:
        return None
    return found


def previous_time(expression: str, before: float) -> float | None:
    """The last time that is earlier than `before`; None: there was none."""
    try:
        found: float = _times(expression, before).get_prev(float)
    except CroniterError:
        return None
    return found


def _times(expression: str, around: float) -> croniter:
    return croniter(expression, datetime.fromtimestamp(around, UTC), max_years_between_matches=_HORIZON_YEARS)


def _checked(expression: str, text: str) -> str:
    try:
        croniter(expression)
    except (CroniterError, ValueError) as error:
        raise BadCron(f"{text!r} is no cron expression: {error}") from error
    if next_time(expression, _EARLIEST) is None:
        raise BadCron(f"{text!r} stands for no time at all")
    return expression
