"""The commands that only look: list, get, logs, check; at a home, or at what engines on Kafka tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from engine.cli.options import common, filters, on_kafka, settings, shared


@click.command(name="list")
@click.argument("kind", type=click.Choice(["executions", "workflows", "tasks", "launch-plans"]), default="executions")
@filters
@on_kafka
@settings
@shared
def list_what_there_is(
    kind: str, home: Path, as_json: bool, config: Path | None, sets: tuple[str, ...], **wanted: Any
) -> int:
    """List the executions of a home, oldest first, or what is registered in it, by name.

    KIND is executions (the default), workflows, tasks or launch-plans.
    """
    from engine.cli.kinds import list_kind
    from engine.cli.request import said_settings

    return list_kind(kind, home, wanted, said_settings(config, sets), as_json=as_json)


@click.command()
@click.argument("name")
@on_kafka
@settings
@shared
def get(name: str, home: Path, as_json: bool, config: Path | None, sets: tuple[str, ...]) -> int:
    """Show one execution: its phase, its nodes, and its outputs or its error.

    NAME is the execution's name, or project:domain:name where several have that name.
    """
    from engine.cli.request import said_settings
    from engine.cli.show import get as perform

    return perform(name, home, said_settings(config, sets), as_json=as_json)


@click.command(name="logs")
@click.argument("execution")
@click.argument("node", default="")
@click.option("--attempt", type=int, metavar="N", help="The first is 1.  [default: the last]")
@click.option(
    "--index", type=click.IntRange(min=0), metavar="K", help="Of a map: the element; NODE as 'n1[3]' is the same."
)
@click.option("--stdout", "streams", flag_value="stdout", help="Only what went to stdout.  [default: both]")
@click.option("--stderr", "streams", flag_value="stderr", help="Only what went to stderr.")
@on_kafka
@settings
@common
def show_logs(home: Path, config: Path | None, sets: tuple[str, ...], streams: str | None, **asked: Any) -> int:
    """Show what the task of a node printed: stdout, then stderr, as far as they are kept.

    EXECUTION is the execution's name, NODE the node's path as `propwash get` shows it. Without it, the node that the
    execution has failed on is meant, or the only one there is.
    """
    from engine.cli.printed import STREAMS, Asked
    from engine.cli.printed import logs as perform
    from engine.cli.request import said_settings

    return perform(Asked(streams=(streams,) if streams else STREAMS, **asked), home, said_settings(config, sets))


@click.command()
@on_kafka
@settings
@shared
def check(home: Path, as_json: bool, config: Path | None, sets: tuple[str, ...]) -> int:
    """Check a home, or what engines on Kafka have committed: states, history and stored values must agree.

    Reads only, also while engines work. The exit code is 1 where something is not as it should be.
    """
    from engine.cli.check import check as perform
    from engine.cli.request import said_settings

    return perform(home, said_settings(config, sets), as_json=as_json)
