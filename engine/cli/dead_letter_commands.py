"""The commands for dead letters: list, show, replay."""

from __future__ import annotations

from pathlib import Path

import click

from engine.cli.options import common, on_kafka, settings, shared


@click.group(name="dead-letters")
def dead_letters() -> None:
    """Look at what could not be processed, and append it to the events again after a fix."""


@dead_letters.command(name="list")
@click.option("--all", "everything", is_flag=True, help="Those that were replayed, too.")
@on_kafka
@settings
@shared
def list_letters(home: Path, config: Path | None, sets: tuple[str, ...], everything: bool, as_json: bool) -> int:
    """List dead letters: number, time, execution and reason of each. Those that were replayed are left out."""
    from engine.cli.dead_letters import Where
    from engine.cli.dead_letters import list_letters as perform

    return perform(Where(home, config, sets), everything=everything, as_json=as_json)


@dead_letters.command(name="show")
@click.argument("id")
@click.option("--raw", is_flag=True, help="Only the bytes, as they came.")
@on_kafka
@settings
@shared
def show_letter(home: Path, config: Path | None, sets: tuple[str, ...], id: str, raw: bool, as_json: bool) -> int:
    """Show one dead letter: why it is one, its headers, and its bytes as they came."""
    from engine.cli.dead_letters import Where
    from engine.cli.dead_letters import show_letter as perform

    return perform(Where(home, config, sets), id, raw=raw, as_json=as_json)


@dead_letters.command(name="replay")
@click.argument("ids", metavar="ID", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All that were not replayed.")
@on_kafka
@settings
@common
def replay_letters(
    home: Path, config: Path | None, sets: tuple[str, ...], ids: tuple[str, ...], everything: bool
) -> int:
    """Append dead letters to the events again, each once, with their headers.

    What still can't be processed becomes a dead letter again. An execution that has ended meanwhile is not changed.
    """
    from engine.cli.dead_letters import Where
    from engine.cli.dead_letters import replay_letters as perform

    if bool(ids) == everything:
        raise click.UsageError("give either the numbers of dead letters, or --all")
    return perform(Where(home, config, sets), ids, everything=everything)
