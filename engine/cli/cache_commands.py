"""The commands for cached results: list, remove."""

from __future__ import annotations

from pathlib import Path

import click

from engine.cli.options import common, duration, settings, shared


@click.group()
def cache() -> None:
    """Look at the results of tasks that are kept to be used again, and remove them."""


@cache.command(name="list")
@settings
@shared
def list_results(home: Path, config: Path | None, sets: tuple[str, ...], as_json: bool) -> int:
    """List the tasks of which results are kept: how many, and the moments of the oldest and the newest."""
    from engine.cli.caching import list_results as perform

    return perform(home, config, sets, as_json=as_json)


@cache.command(name="remove")
@click.argument("tasks", nargs=-1, metavar="[TASK]...")
@click.option("--all", "everything", is_flag=True, help="Of every task.")
@click.option(
    "--older-than", callback=duration, metavar="DURATION", help="Only what was kept before 30d, 12h, ... ago."
)
@click.option(
    "--values",
    is_flag=True,
    help="Delete the large values that they refer to, too. Executions that have used a result refer to these as well.",
)
@settings
@common
def remove(
    home: Path,
    config: Path | None,
    sets: tuple[str, ...],
    tasks: tuple[str, ...],
    everything: bool,
    older_than: float | None,
    values: bool,
) -> int:
    """Forget the kept results of tasks, so that they run again. TASK is a full name, or its ending after a dot.

    May be done while an engine works (not with --values). Who has used a result keeps it.
    """
    from engine.cli.caching import Unwanted, remove_results

    if everything == bool(tasks):
        raise click.UsageError("name tasks, or --all; `propwash cache list` shows of which there are results")
    return remove_results(home, config, sets, Unwanted(tasks, older_than, values))
