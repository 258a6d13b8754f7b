"""Which executions somebody wants to see, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.model.state import Execution


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which executions, and in which order."""

    phases: tuple[str, ...] = ()
    """Any of these; empty: all."""
    workflow: str = ""
    """Full name of the workflow or launch plan, or an ending of it after a dot."""
    since_seconds: float | None = None
    """Submitted within so many seconds before now."""
    limit: int | None = None
    """So many of them, the newest."""
    newest_first: bool = False
    children: bool = True
    """Those that a launch plan node started, too."""
    project: str | None = None
    domain: str | None = None

    def choose(self, records: Sequence[Execution], now: float) -> list[Execution]:
        """`records`: oldest submission first."""
        found = [record for record in records if self._matches(record, now)]
        if self.limit is not None:
            found = found[max(len(found) - self.limit, 0) :]
        return found[::-1] if self.newest_first else found

    def _matches(self, record: Execution, now: float) -> bool:
        return (
            (self.children or record.parent is None)
            and self.project in (None, record.id.project)
            and self.domain in (None, record.id.domain)
            and (not self.phases or record.phase.value in self.phases)
            and (self.since_seconds is None or record.submitted_at >= now - self.since_seconds)
            and (not self.workflow or any(map(self._is_named, (record.entity.name, record.workflow.name))))
        )

    def _is_named(self, name: str) -> bool:
        return name == self.workflow or name.endswith(f".{self.workflow}")
