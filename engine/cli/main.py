"""The command line: one click group. Each command imports what it needs when it runs, so that `list` is quick."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from engine.cli import logs
from engine.cli.arguments import HELP, split
from engine.cli.screen import open_streams
from engine.cli.verdict import Context, exit_code
from engine.model.ids import DNS_LABEL

_F = TypeVar("_F", bound=Callable[..., Any])


@click.group(name="propwash", context_settings={"help_option_names": [HELP]})
@click.version_option(package_name="propwash", prog_name="propwash")
def cli() -> None:
    """Run flytekit workflows: asynchronous, event-driven, durable."""


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code (engine.cli.exitcodes)."""
    open_streams()
    context = Context()
    arguments: Sequence[str] | None = argv
    try:
        return int(cli.main(args=arguments, prog_name="propwash", standalone_mode=False, obj=context) or 0)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the verdict is the exit code
        return exit_code(error, context)


def _set_debug(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.obj.debug = ctx.obj.debug or value


def _set_verbose(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    logs.configure(verbose=value)


def _label(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not DNS_LABEL.match(value):
        raise click.BadParameter(
            f"{value!r} is no DNS label: 1 to 63 of a-z, 0-9 and '-', neither first nor last a dash"
        )
    return value


def _shared(function: _F) -> _F:
    """Options that every command has."""
    for decorate in (
        click.option(
            "--debug",
            is_flag=True,
            envvar="PROPWASH_DEBUG",
            callback=_set_debug,
            expose_value=False,
            is_eager=True,
            help="Show the traceback of every error.",
        ),
        click.option(
            "--verbose",
            is_flag=True,
            callback=_set_verbose,
            expose_value=False,
            help="Log what the engine does, not only what it worries about.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout, and nothing else there."),
        click.option(
            "--home",
            type=click.Path(path_type=Path),
            default=".propwash",
            show_default=True,
            envvar="PROPWASH_HOME",
            show_envvar=True,
            help="Folder with the log, the store and what tasks print.",
        ),
    ):
        function = decorate(function)
    return function


def _settings(function: _F) -> _F:
    """Options of commands that run an engine."""
    for decorate in (
        click.option("--set", "sets", multiple=True, metavar="KEY=VALUE", help="Override a setting; repeatable."),
        click.option(
            "--config",
            type=click.Path(path_type=Path),
            envvar="PROPWASH_CONFIG",
            show_envvar=True,
            help="YAML file with settings.",
        ),
    ):
        function = decorate(function)
    return function


class RunCommand(click.Command):
    """Lets click read the options of propwash and leaves the rest for later: engine.cli.arguments says why."""

    sections_key = "sections"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        sections = split(args, self.ours())
        ctx.meta[self.sections_key] = sections
        if not sections.file and HELP not in sections.options and not ctx.resilient_parsing:
            raise click.UsageError("FILE_OR_PACKAGE is missing", ctx)
        return super().parse_args(ctx, list(sections.options))

    def ours(self) -> dict[str, bool]:
        """The options of propwash, and whether each takes a value."""
        options = [param for param in self.params if isinstance(param, click.Option)]
        return {HELP: False} | {name: not option.is_flag for option in options for name in option.opts}

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[OPTIONS]", "FILE_OR_PACKAGE", "WORKFLOW_OR_LAUNCHPLAN", "[--INPUT VALUE ...]", "[OPTIONS]"]


@cli.command(cls=RunCommand)
@click.option("--name", callback=_label, help="Name of the execution.  [default: a random one]")
@click.option(
    "--inputs-file", type=click.Path(path_type=Path), help="JSON or YAML file with inputs by name; arguments win."
)
@click.option(
    "--code-root", type=click.Path(path_type=Path), help="Folder of a package's modules.  [default: this folder]"
)
@click.option("--project", callback=_label, help="Project of the execution.  [default: setting execution.project]")
@click.option("--domain", callback=_label, help="Domain of the execution.  [default: setting execution.domain]")
@_settings
@_shared
@click.pass_context
def run(ctx: click.Context, /, **_: object) -> int:
    """Run a workflow or launch plan, and wait for its end.

    FILE_OR_PACKAGE is a Python file with flytekit workflows, or what `pyflyte package` wrote (a .tgz, or a folder of
    .pb files). `--help` after the workflow's name lists its inputs.

    The options below stand before FILE_OR_PACKAGE or after the workflow's name. Where the workflow has an input of the
    same name, what stands after the workflow's name is that input.
    """
    from engine.cli.run import run as perform

    command = ctx.command
    assert isinstance(command, RunCommand)
    return perform(ctx, ctx.meta[RunCommand.sections_key], command.ours())


@cli.command()
@_settings
@_shared
@click.pass_obj
def resume(context: Context, home: Path, as_json: bool, config: Path | None, sets: tuple[str, ...]) -> int:
    """Finish every execution that was left unfinished, and wait for their end.

    The exit code is 0 only if all of them have succeeded.
    """
    from engine.cli.resume import resume as perform

    return perform(context, home, config, sets, as_json=as_json)


@cli.command(name="list")
@_shared
def list_executions(home: Path, as_json: bool) -> int:
    """List the executions of a home, oldest first."""
    from engine.cli.show import list_executions as perform

    return perform(home, as_json=as_json)


@cli.command()
@click.argument("name")
@_shared
def get(name: str, home: Path, as_json: bool) -> int:
    """Show one execution of a home: its phase, its nodes, and its outputs or its error.

    NAME is the execution's name, or project:domain:name where several have that name.
    """
    from engine.cli.show import get as perform

    return perform(name, home, as_json=as_json)


@cli.command()
@_shared
def check(home: Path, as_json: bool) -> int:
    """Check a home: states, history and stored values must agree.

    Reads only, also while an engine works on the home. The exit code is 1 where something is not as it should be.
    """
    from engine.cli.check import check as perform

    return perform(home, as_json=as_json)
