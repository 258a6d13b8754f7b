"""What this process has accepted and can't read yet, so that whoever submits finds the execution at once.

Another process owns its partition, perhaps, and what that one commits is read a moment later.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from engine.model.events import ExecutionSubmitted
from engine.model.ids import ExecutionId
from engine.model.state import Execution

KEEP_SECONDS = 600.0
"""An owner that is so far behind is in trouble that others tell of."""


class AcceptedHere:
    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._records: dict[ExecutionId, tuple[float, Execution]] = {}
        """With the moment of acceptance, the oldest first."""

    def enter(self, event: ExecutionSubmitted, inputs_uri: str, now: float) -> None:
        """As it will be before its first turn, but for the workflow of a launch plan."""
        record = Execution(
            id=event.execution,
            entity=event.entity,
            workflow=event.entity,
            package=event.package,
            inputs_uri=inputs_uri,
            submitted_at=now,
            overwrite_cache=event.overwrite_cache,
            overrides=event.overrides,
            recovers=event.recovers,
        )
        self.leave(event.execution)
        self._records[event.execution] = self._clock(), record
        self._let_go()

    def get(self, execution: ExecutionId) -> Execution | None:
        self._let_go()
        entered = self._records.get(execution)
        return entered and entered[1]

    def leave(self, execution: ExecutionId) -> None:
        """It can be read."""
        self._records.pop(execution, None)

    def _let_go(self) -> None:
        before = self._clock() - KEEP_SECONDS
        while self._records:
            execution, (moment, _) = next(iter(self._records.items()))
            if moment > before:
                return
            del self._records[execution]
