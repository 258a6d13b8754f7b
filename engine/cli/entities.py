"""`propwash list workflows|tasks|launch-plans`: what is registered in a home."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from engine.cli.exitcodes import ExitCode
from engine.cli.report import Table, columns
from engine.cli.screen import say
from engine.cli.show import as_text
from engine.cli.wording import plain
from engine.gateway.document import iso
from engine.model.ids import EntityKind
from engine.registries import read_registry
from engine.registry.activation import Activation, every_active
from engine.registry.entries import Entry, Registry
from engine.wire.natural import Json

if TYPE_CHECKING:
    from config.settings import Settings

KINDS = {"workflows": EntityKind.WORKFLOW, "tasks": EntityKind.TASK, "launch-plans": EntityKind.LAUNCH_PLAN}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which versions of what."""

    kind: EntityKind
    project: str | None = None
    domain: str | None = None
    name: str = ""
    """A full name, or its ending after a dot."""
    version: str = ""
    every_version: bool = False
    """Not only the latest one of each name."""
    limit: int | None = None

    def choose(self, entries: Sequence[Entry]) -> list[Entry]:
        """`entries`: the latest first. By name, the latest version first."""
        found = [entry for entry in entries if self._matches(entry)]
        if not self.every_version and not self.version:
            latest = {(entry.id.project, entry.id.domain, entry.id.name): entry for entry in reversed(found)}
            found = [entry for entry in found if entry in latest.values()]
        found.sort(key=lambda entry: (entry.id.project, entry.id.domain, entry.id.name))
        return found if self.limit is None else found[: self.limit]

    def _matches(self, entry: Entry) -> bool:
        id = entry.id
        return (
            self.project in (None, id.project)
            and self.domain in (None, id.domain)
            and self.version in ("", id.version)
            and (not self.name or id.name == self.name or id.name.endswith(f".{self.name}"))
        )


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry, and what is known of a launch plan."""

    entry: Entry
    workflow: str = ""
    schedule: str = ""
    active: bool = False


def list_entities(home: Path, wanted: Wanted, settings: Settings | None, *, as_json: bool) -> int:
    return anyio.run(_list, home, wanted, settings, as_json)


async def _list(home: Path, wanted: Wanted, settings: Settings | None, as_json: bool) -> int:
    async with read_registry(home, settings) as registry:
        entries = await registry.every(wanted.kind)
        found = [await _listed(registry, entry, await every_active(registry)) for entry in wanted.choose(entries)]
    if as_json:
        say(as_text([_document(one) for one in found]))
    elif found:
        say(_table(found))
    else:
        what = f"{wanted.kind.value.replace('_', ' ')}s"
        say(f"none of the {what} registered in {home} matches" if entries else f"no {what} registered in {home}")
    return ExitCode.SUCCEEDED


async def _listed(registry: Registry, entry: Entry, active: Sequence[Activation]) -> Listed:
    if entry.id.kind is not EntityKind.LAUNCH_PLAN:
        return Listed(entry)
    workflow, schedule = await registry.plan_summary(entry)
    return Listed(entry, workflow, schedule, any(one.id == entry.id for one in active))


def _table(found: Sequence[Listed]) -> str:
    rows: Table = [("NAME", "VERSION", "PROJECT", "DOMAIN", "REGISTERED", "WORKFLOW", "SCHEDULE", "STATE")]
    for one in found:
        id = one.entry.id
        rows.append(
            (
                plain(id.name),
                plain(id.version),
                plain(id.project),
                plain(id.domain),
                datetime.fromtimestamp(one.entry.registered_at).astimezone().strftime("%Y-%m-%d %H:%M:%S"),
                plain(one.workflow),
                plain(one.schedule),
                "active" if one.active else "",
            )
        )
    return columns(rows)


def _document(one: Listed) -> dict[str, Json]:
    id = one.entry.id
    found: dict[str, Json] = {
        "kind": id.kind.value.replace("_", "-"),
        "project": id.project,
        "domain": id.domain,
        "name": id.name,
        "version": id.version,
        "registered_at": iso(one.entry.registered_at),
        "package": one.entry.package,
    }
    if id.kind is EntityKind.LAUNCH_PLAN:
        found |= {"workflow": one.workflow, "schedule": one.schedule or None, "active": one.active}
    return found
