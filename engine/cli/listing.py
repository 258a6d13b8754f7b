"""`propwash list`: the executions of a home, or those that a person asks for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from engine.cli.exitcodes import ExitCode
from engine.cli.report import execution_table
from engine.cli.screen import say
from engine.homes import HomeView, read_home
from engine.model.state import Execution
from engine.ports.eventlog import Selection

if TYPE_CHECKING:
    from config.settings import Settings


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which executions, and in which order."""

    phases: tuple[str, ...] = ()
    workflow: str = ""
    since_seconds: float | None = None
    """Submitted within so many seconds before now."""
    limit: int | None = None
    """So many of them, the newest."""
    newest_first: bool = False
    children: bool = True
    project: str | None = None
    domain: str | None = None

    def selection(self, now: float) -> Selection:
        since = None if self.since_seconds is None else now - self.since_seconds
        return Selection(self.phases, self.workflow, since, self.children, self.project, self.domain, limit=self.limit)


def list_executions(home: Path, wanted: Wanted, settings: Settings | None, *, as_json: bool) -> int:
    if settings is not None and settings.kafka.bootstrap is not None:
        from engine.cli import cluster_looks

        return anyio.run(cluster_looks.executions, home, wanted, settings, as_json)
    return anyio.run(_list, home, wanted, settings, as_json)


async def _list(home: Path, wanted: Wanted, settings: Settings | None, as_json: bool) -> int:
    async with read_home(home, settings) as view:
        found = list(await view.log.select(wanted.selection(time.time())))
        if not wanted.newest_first:
            found.reverse()
        if as_json:
            return await _list_json(view, home, found)
        some = found or await view.log.select(Selection(limit=1))
    if found:
        say(execution_table(found, time.time()))
    else:
        say(f"none of the executions in {home} matches" if some else f"no execution in {home}")
    return ExitCode.SUCCEEDED


async def _list_json(view: HomeView, home: Path, records: Sequence[Execution]) -> int:
    from engine.cli.show import as_text, tell_problems
    from engine.gateway.documents import Documents

    documents = Documents(view.log, view.blobs, home)
    say(as_text([await documents.of(record.id) for record in records]))
    return tell_problems(documents)
