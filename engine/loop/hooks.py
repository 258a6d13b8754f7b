"""Named places where a test may stop the engine, as if the power went."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

Place = Literal["before_commit", "after_commit", "before_launch", "after_launch"]
Hook = Callable[[Place], None]


def nothing(place: Place) -> None:
    """What an engine in production does at its crash hooks."""
