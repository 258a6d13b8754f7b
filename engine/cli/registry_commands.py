"""The commands for what is registered in a home: register, submit, launch-plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from engine.cli.options import common, label, on_kafka, settings, shared
from engine.cli.verdict import Context
from engine.model.architectures import Architecture
from engine.model.overrides import Overrides

_F = TypeVar("_F", bound=Callable[..., Any])

ARCHITECTURE = click.Choice([one.value for one in Architecture])
_project = click.option("--project", callback=label, help="[default: setting execution.project]")
_domain = click.option("--domain", callback=label, help="[default: setting execution.domain]")


def _pairs(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{text!r}: expected NAME=VALUE")
        if name in found:
            raise click.BadParameter(f"{name!r} is given twice")
        found[name] = value
    return found


@click.command()
@click.argument("source", metavar="FILE_OR_PACKAGE", type=click.Path(path_type=Path))
@_project
@_domain
@click.option("--version", default="", metavar="TEXT", help="[default: made of the content]")
@click.option(
    "--architecture", type=ARCHITECTURE, help="Of every container task that does not say its own.  [default: not said]"
)
@click.option(
    "--code-root",
    type=click.Path(path_type=Path),
    help="Folder that the tasks' modules are found in.  [default: a copy, where FILE or the package brings them]",
)
@settings
@shared
def register(as_json: bool, config: Path | None, sets: tuple[str, ...], **asked: Any) -> int:
    """Register the tasks, workflows and launch plans of a file or package under a version.

    FILE_OR_PACKAGE is a Python file, or what `pyflyte package` wrote. The same version with the same content again
    changes nothing; with other content it is refused, with what differs.
    """
    from engine.cli.register import Asked
    from engine.cli.register import register as perform

    return perform(Asked(**asked), config, sets, as_json=as_json)


_OPTIONS = tuple(Overrides.__struct_fields__)


def _options(function: _F) -> _F:
    """What a submission may say beyond the inputs: a field of Overrides each, and whether the cache is overwritten."""
    for decorate in (
        click.option("--overwrite-cache", is_flag=True, help="Run cached tasks too, and keep the new results."),
        click.option("--raw-output-prefix", default="", metavar="URI", help="Below which tasks put raw data."),
        click.option("--architecture", type=ARCHITECTURE, help="Of every task of the execution."),
        click.option("--service-account", default="", metavar="NAME", help="Of Kubernetes, for the tasks' pods."),
        click.option("--max-parallelism", type=click.IntRange(min=0), default=0, metavar="N", help="Nodes at once."),
        click.option("--interruptible/--no-interruptible", default=None, help="Tasks may run where it costs less."),
        click.option("--env", "envs", multiple=True, callback=_pairs, metavar="NAME=VALUE", help="For every task."),
        click.option("--annotation", "annotations", multiple=True, callback=_pairs, metavar="NAME=VALUE"),
        click.option("--label", "labels", multiple=True, callback=_pairs, metavar="NAME=VALUE"),
    ):
        function = decorate(function)
    return function


@click.command()
@click.argument("entity", metavar="NAME[:VERSION]")
@click.option("--input", "inputs", multiple=True, callback=_pairs, metavar="NAME=VALUE", help="One input; repeatable.")
@click.option(
    "--inputs-file",
    "--inputs",
    "inputs_file",
    type=click.Path(path_type=Path),
    help="JSON or YAML file with inputs; --input wins.",
)
@click.option("--name", callback=label, help="Name of the execution.  [default: a random one]")
@click.option("--wait/--no-wait", default=True, help="Until the execution has ended.  [default: wait]")
@_project
@_domain
@_options
@on_kafka
@settings
@shared
@click.pass_obj
def submit(
    context: Context, /, config: Path | None, sets: tuple[str, ...], wait: bool, as_json: bool, **asked: Any
) -> int:
    """Start a registered workflow, launch plan or task.

    NAME is its full name or a unique ending of it; without a version the one that was registered last is meant. Where
    no engine works on the home, this command does, until the execution has ended. With --no-wait the execution's name
    is printed as soon as the submission is durable.
    """
    from engine.cli.submit import Asked
    from engine.cli.submit import submit as perform

    said = {name: asked.pop(name) for name in _OPTIONS}
    options = {name: value for name, value in said.items() if value is not None}
    return perform(context, Asked(**asked, overrides=Overrides(**options)), config, sets, wait=wait, as_json=as_json)


@click.group(name="launch-plan")
def launch_plan() -> None:
    """Let a launch plan start by its schedule, or not."""


def _change(word: str, help: str, *, active: bool) -> click.Command:
    @click.command(name=word, help=help)
    @click.argument("name", metavar="NAME[:VERSION]" if active else "NAME")
    @_project
    @_domain
    @settings
    @common
    def change(home: Path, config: Path | None, sets: tuple[str, ...], **asked: Any) -> int:
        from engine.cli.activate import Asked
        from engine.cli.activate import change as perform

        return perform(Asked(**asked), home, config, sets, active=active)

    return change


launch_plan.add_command(
    _change("activate", "Let a version of a launch plan start by its schedule, where an engine serves.", active=True)
)
launch_plan.add_command(
    _change("deactivate", "Let no version of a launch plan start by its schedule any more.", active=False)
)
