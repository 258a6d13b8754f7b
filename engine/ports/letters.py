"""Dead letters as operators see them: what could not be processed, to be looked at, and appended again after a fix."""

from __future__ import annotations

from msgspec import Struct

from engine.ports.eventlog import DeadLetter


class Letter(Struct, frozen=True):
    id: str
    """PARTITION/OFFSET in the topic of dead letters; a number, in a home."""
    letter: DeadLetter
    """Its offset is that of the original record in its partition of the events; -1 = it was in memory only."""
    partition: int | None = None
    """Of the events, where the original record stood; None in a home, which has one order of events."""
    at: float = 0.0
    """When it was put there (seconds since the epoch); 0 = nobody knows."""
    replayed: bool = False
    """It was appended to the events again."""
