"""What an attempt in a pod is at: it waits, it runs, it has ended, or it never will run."""

from __future__ import annotations

from msgspec import Struct

from engine.model.errors import Failure
from engine.ports.taskrunner import Exit


class Pending(Struct, frozen=True):
    """The task does not run yet."""

    why: str
    until: float | None = None
    """Unix seconds after which this is no longer waited for; None = no limit."""


class Runs(Struct, frozen=True):
    started_at: float
    """Unix seconds by the node's clock, whole ones."""


class Ended(Struct, frozen=True):
    exit: Exit


class Never(Struct, frozen=True):
    """The task will not run in this pod."""

    failure: Failure
    recoverable: bool


State = Pending | Runs | Ended | Never
