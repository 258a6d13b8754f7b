"""When a launch plan starts by itself."""

from __future__ import annotations

from msgspec import Struct


class Schedule(Struct, frozen=True, omit_defaults=True):
    """Either a cron expression or a rate. All times are UTC."""

    cron: str = ""
    """Five fields, or seven with seconds and years; `engine.wire.cron` makes it of whatever an author may write."""
    offset_seconds: float = 0.0
    """So long after each time of the cron expression."""
    every_seconds: float = 0.0
    """The rate; counted from the activation of the launch plan."""
    kickoff_input: str = ""
    """The input (a datetime) that gets the time for which an execution was due; empty: none."""

    def __str__(self) -> str:
        if not self.cron:
            return f"every {self.every_seconds:g} s"
        return f"cron {self.cron}" + (f" + {self.offset_seconds:g} s" if self.offset_seconds else "")
