"""The command line: one click group. Each command imports what it needs when it runs, so that `list` is quick."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from engine.cli.arguments import HELP, split
from engine.cli.cache_commands import cache
from engine.cli.cluster_commands import architectures, webhook
from engine.cli.dead_letter_commands import dead_letters
from engine.cli.looking_commands import check, get, list_what_there_is, show_logs
from engine.cli.operator_commands import abort, serve, signal, watch
from engine.cli.options import label, settings, shared
from engine.cli.recovery_commands import recover, relaunch, replay, retry_node
from engine.cli.registry_commands import ARCHITECTURE, launch_plan, register, submit
from engine.cli.screen import open_streams
from engine.cli.verdict import Context, exit_code


@click.group(name="propwash", context_settings={"help_option_names": [HELP]})
@click.version_option(package_name="propwash", prog_name="propwash")
def cli() -> None:
    """Run flytekit workflows: asynchronous, event-driven, durable."""


for command in (
    register,
    submit,
    launch_plan,
    serve,
    watch,
    abort,
    signal,
    recover,
    relaunch,
    retry_node,
    replay,
    list_what_there_is,
    get,
    show_logs,
    check,
    cache,
    dead_letters,
    architectures,
    webhook,
):
    cli.add_command(command)


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code (engine.cli.exitcodes)."""
    open_streams()
    context = Context()
    arguments: Sequence[str] | None = argv
    try:
        return int(cli.main(args=arguments, prog_name="propwash", standalone_mode=False, obj=context) or 0)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the verdict is the exit code
        return exit_code(error, context)


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
@click.option("--name", callback=label, help="Name of the execution.  [default: a random one]")
@click.option(
    "--inputs-file", type=click.Path(path_type=Path), help="JSON or YAML file with inputs by name; arguments win."
)
@click.option(
    "--code-root", type=click.Path(path_type=Path), help="Folder of a package's modules.  [default: this folder]"
)
@click.option("--overwrite-cache", is_flag=True, help="Run tasks whose results are cached too, and keep the new ones.")
@click.option("--architecture", type=ARCHITECTURE, help="Of every task of the execution.")
@click.option("--project", callback=label, help="Project of the execution.  [default: setting execution.project]")
@click.option("--domain", callback=label, help="Domain of the execution.  [default: setting execution.domain]")
@settings
@shared
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
@settings
@shared
@click.pass_obj
def resume(context: Context, home: Path, as_json: bool, config: Path | None, sets: tuple[str, ...]) -> int:
    """Finish every execution that was left unfinished, and wait for their end.

    The exit code is 0 only if all of them have succeeded.
    """
    from engine.cli.resume import resume as perform

    return perform(context, home, config, sets, as_json=as_json)
