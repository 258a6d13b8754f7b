"""The commands for executions that failed, or that need explaining: recover, relaunch, retry-node, replay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from engine.cli.options import common, label, on_kafka, settings, shared
from engine.cli.verdict import Context

_F = TypeVar("_F", bound=Callable[..., Any])


def _anew(function: _F) -> _F:
    """Options of the commands that start an execution after another one, as engine.cli.again.Asked has them."""
    for decorate in (
        click.option("--wait/--no-wait", default=True, help="Until it has ended.  [default: wait]"),
        click.option("--name", callback=label, help="Name of the new execution.  [default: a random one]"),
        click.argument("execution"),
    ):
        function = decorate(function)
    return function


@click.command()
@_anew
@click.option("--dry-run", is_flag=True, help="Only say what would become of each node, and why.")
@click.option(
    "--package",
    metavar="FILE_OR_PACKAGE",
    help="Go on with the workflow of the same name in there, which was mended.  [default: the workflow as it was]",
)
@on_kafka
@settings
@shared
@click.pass_obj
def recover(
    context: Context, /, home: Path, config: Path | None, sets: tuple[str, ...], dry_run: bool, **asked: Any
) -> int:
    """Start a new execution that takes over what succeeded in one that failed or was aborted, and runs the rest."""
    from engine.cli.again import Asked, again, foresee

    if dry_run:
        return foresee(Asked(recover=True, **asked), home, config, sets)
    return again(context, Asked(recover=True, **asked), home, config, sets)


@click.command()
@_anew
@click.option("--overwrite-cache", is_flag=True, help="Run tasks whose results are cached too, and keep the new ones.")
@on_kafka
@settings
@shared
@click.pass_obj
def relaunch(context: Context, /, home: Path, config: Path | None, sets: tuple[str, ...], **asked: Any) -> int:
    """Start a new execution of the same workflow with the same inputs."""
    from engine.cli.again import Asked, again

    return again(context, Asked(recover=False, **asked), home, config, sets)


@click.command(name="retry-node")
@click.argument("execution")
@click.argument("node")
@click.option("--all-elements", is_flag=True, help="Of a map: those that have succeeded run again, too.")
@on_kafka
@settings
@common
def retry_node(
    execution: str, node: str, home: Path, config: Path | None, sets: tuple[str, ...], all_elements: bool
) -> int:
    """Give a failed node one more attempt while its execution is still running.

    NODE is its path, as `propwash get` shows it. What was skipped because it had failed waits again. Of a map only the
    elements run that have not succeeded.
    """
    from engine.cli.retry import retry_node as perform

    return perform(execution, node, home, config, sets, all_elements=all_elements)


@click.command()
@click.argument("execution")
@click.option("--steps", is_flag=True, help="Show every event with what was decided.")
@settings
@shared
def replay(execution: str, steps: bool, home: Path, as_json: bool, config: Path | None, sets: tuple[str, ...]) -> int:
    """Decide an execution once more from its recorded events, and compare with its recorded history.

    Reads only. The exit code is 1 where today's engine, with today's settings, decides otherwise.
    """
    from engine.cli.replaying import replay as perform

    return perform(execution, home, config, sets, steps=steps, as_json=as_json)
