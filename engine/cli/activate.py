"""`propwash launch-plan activate|deactivate`: whether a launch plan starts by its schedule."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from config.settings import Settings
from engine.cli.exitcodes import ExitCode
from engine.cli.request import load_settings
from engine.cli.screen import say
from engine.cli.session import Session, run_session
from engine.model.ids import EntityKind
from engine.reach import tell_of_change
from engine.registries import open_registry, read_registry
from engine.registry import activation
from engine.registry.entries import Entry, Registry
from engine.registry.finding import find, full_name


@dataclass(frozen=True, slots=True)
class Asked:
    name: str
    project: str | None
    domain: str | None


def change(asked: Asked, home: Path, config: Path | None, sets: Sequence[str], *, active: bool) -> int:
    """Raises BadInput where no such launch plan is registered, or where its schedule can't be kept."""
    return run_session(partial(_change, asked, home, load_settings(config, sets), active))


async def _change(asked: Asked, home: Path, settings: Settings, active: bool, session: Session) -> int:
    project, domain = asked.project or settings.execution.project, asked.domain or settings.execution.domain
    async with read_registry(home, settings) as registry:
        entry = await find(registry, asked.name, project, domain, [EntityKind.LAUNCH_PLAN])
    async with open_registry(home, settings) as registry:
        text = await (_activate if active else _deactivate)(registry, entry)
    await tell_of_change(home)
    say(text)
    return ExitCode.SUCCEEDED


async def _activate(registry: Registry, entry: Entry) -> str:
    before = await activation.active_version(registry, entry.id)
    await activation.activate(registry, entry, time.time())
    _, schedule = await registry.plan_summary(entry)
    starts = f"starts by its schedule ({schedule}) where an engine serves" if schedule else "has no schedule"
    other = f"; version {before.id.version} is not any more" if before and before.id != entry.id else ""
    return f"launch plan {full_name(entry.id)} is active and {starts}{other}"


async def _deactivate(registry: Registry, entry: Entry) -> str:
    """Whatever version was active, since one is at most."""
    before = await activation.deactivate(registry, entry.id)
    return f"launch plan {full_name(before.id if before else entry.id)} is not active" + (
        "" if before else "; it was not before"
    )
