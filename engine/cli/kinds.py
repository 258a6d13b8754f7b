"""`propwash list`: of executions, or of what is registered; each has filters of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from config.settings import Settings

EXECUTIONS = "executions"
_ONLY_EXECUTIONS = {
    "phases": "--phase",
    "workflow": "--workflow",
    "since_seconds": "--since",
    "newest_first": "--newest-first",
    "children": "--children",
}
_ONLY_ENTITIES = {"name": "--name", "version": "--version", "every_version": "--all-versions"}


def list_kind(kind: str, home: Path, given: dict[str, Any], settings: Settings | None, *, as_json: bool) -> int:
    """Raises UsageError for a filter that is not of this kind."""
    others = _ONLY_ENTITIES if kind == EXECUTIONS else _ONLY_EXECUTIONS
    for name, option in others.items():
        if given.pop(name) not in (None, "", False, ()):
            raise click.UsageError(f"{option} says nothing about {kind}")
    if kind == EXECUTIONS:
        from engine.cli.listing import Wanted, list_executions

        children = as_json if given["children"] is None else given["children"]
        return list_executions(home, Wanted(**{**given, "children": children}), settings, as_json=as_json)
    from engine.cli import entities

    return entities.list_entities(home, entities.Wanted(entities.KINDS[kind], **given), settings, as_json=as_json)
