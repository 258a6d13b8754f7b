"""Which attempt the work at hand is for, so that log lines tell it: also those of hands, which know no attempts."""

from __future__ import annotations

from contextvars import ContextVar

from engine.model.ids import AttemptKey

ATTEMPT: ContextVar[AttemptKey | None] = ContextVar("attempt", default=None)
"""Set by whoever begins an effect, for its own task and what that one starts."""
