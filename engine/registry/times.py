"""When a schedule falls due. Pure: seconds since the epoch in and out."""

from __future__ import annotations

import math
from typing import NamedTuple

from engine.model.schedules import Schedule
from engine.wire.cron import next_time, previous_time


class Due(NamedTuple):
    times: list[float]
    """Oldest first."""
    skipped: bool
    """Whether there were more, older ones."""


def due(schedule: Schedule, since: float, until: float, now: float, most: int) -> Due:
    """The times after `until` (those up to it are done) and not after `now`, at most the `most` newest.

    `since`: when the schedule began; nothing is due at that moment itself.
    """
    found: list[float] = []
    at = _last(schedule, since, now)
    while at is not None and at > max(since, until):
        if len(found) == most:
            return Due(found[::-1], True)
        found.append(at)
        at = _before(schedule, since, at)
    return Due(found[::-1], False)


def following(schedule: Schedule, since: float, after: float) -> float | None:
    """The first time after a moment; None: never again."""
    if schedule.every_seconds:
        return since + (max(_count(schedule, since, after), 0) + 1) * schedule.every_seconds
    found = next_time(schedule.cron, max(after, since) - schedule.offset_seconds)
    return None if found is None else found + schedule.offset_seconds


def _count(schedule: Schedule, since: float, at: float) -> int:
    """How many times of a rate have passed."""
    count = math.floor((at - since) / schedule.every_seconds)
    # Rounding must not lose the time that is just now, nor bring one that is still to come.
    if since + (count + 1) * schedule.every_seconds <= at:
        return count + 1
    return count if since + count * schedule.every_seconds <= at else count - 1


def _last(schedule: Schedule, since: float, now: float) -> float | None:
    """The latest time that is not after `now`."""
    if schedule.every_seconds:
        return since + _count(schedule, since, now) * schedule.every_seconds
    # The finest cron expression has whole seconds.
    return _cron_before(schedule, now + 1e-6)


def _before(schedule: Schedule, since: float, at: float) -> float | None:
    if schedule.every_seconds:
        return since + (round((at - since) / schedule.every_seconds) - 1) * schedule.every_seconds
    return _cron_before(schedule, at)


def _cron_before(schedule: Schedule, at: float) -> float | None:
    found = previous_time(schedule.cron, at - schedule.offset_seconds)
    return None if found is None else found + schedule.offset_seconds
