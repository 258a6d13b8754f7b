"""`propwash list`: the executions of a home, or those that a person asks for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from engine.cli.exitcodes import ExitCode
from engine.cli.report import execution_table
from engine.cli.screen import say
from engine.homes import HomeView, read_home
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


def list_executions(home: Path, wanted: Wanted, *, as_json: bool) -> int:
    return anyio.run(_list, home, wanted, as_json)


async def _list(home: Path, wanted: Wanted, as_json: bool) -> int:
    async with read_home(home) as view:
        records = await view.log.executions()
        found = wanted.choose(records, time.time())
        if as_json:
            return await _list_json(view, home, found)
    if found:
        say(execution_table(found, time.time()))
    else:
        say(f"none of the {len(records)} executions in {home} matches" if records else f"no execution in {home}")
    return ExitCode.SUCCEEDED


async def _list_json(view: HomeView, home: Path, records: Sequence[Execution]) -> int:
    from engine.cli.documents import Documents
    from engine.cli.show import as_text, tell_problems

    documents = Documents(view.log, view.blobs, home)
    say(as_text([await documents.of(record.id) for record in records]))
    return tell_problems(documents)
