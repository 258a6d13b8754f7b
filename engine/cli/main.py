"""The command line: one click group. Each command imports what it needs when it runs, so that `list` is quick."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from engine.cli.arguments import HELP, split
from engine.cli.cluster_commands import architectures, webhook
from engine.cli.dead_letter_commands import dead_letters
from engine.cli.operator_commands import abort, serve, signal, watch
from engine.cli.options import common, filters, label, settings, shared
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


@cli.command(name="list")
@click.argument("kind", type=click.Choice(["executions", "workflows", "tasks", "launch-plans"]), default="executions")
@filters
@shared
def list_what_there_is(kind: str, home: Path, as_json: bool, **wanted: Any) -> int:
    """List the executions of a home, oldest first, or what is registered in it, by name.

    KIND is executions (the default), workflows, tasks or launch-plans.
    """
    from engine.cli.kinds import list_kind

    return list_kind(kind, home, wanted, as_json=as_json)


@cli.command()
@click.argument("name")
@shared
def get(name: str, home: Path, as_json: bool) -> int:
    """Show one execution of a home: its phase, its nodes, and its outputs or its error.

    NAME is the execution's name, or project:domain:name where several have that name.
    """
    from engine.cli.show import get as perform

    return perform(name, home, as_json=as_json)


@cli.command(name="logs")
@click.argument("execution")
@click.argument("node")
@click.option("--attempt", type=int, metavar="N", help="The first is 1.  [default: the last]")
@click.option(
    "--index", type=click.IntRange(min=0), metavar="K", help="Of a map: the element; NODE as 'n1[3]' is the same."
)
@click.option("--stdout", "streams", flag_value="stdout", help="Only what went to stdout.  [default: both]")
@click.option("--stderr", "streams", flag_value="stderr", help="Only what went to stderr.")
@common
def show_logs(
    home: Path, execution: str, node: str, attempt: int | None, index: int | None, streams: str | None
) -> int:
    """Show what the task of a node printed: stdout, then stderr, as far as they are kept.

    EXECUTION is the execution's name, NODE the node's path as `propwash get` shows it.
    """
    from engine.cli.printed import STREAMS, Asked
    from engine.cli.printed import logs as perform

    return perform(Asked(execution, node, index, attempt, (streams,) if streams else STREAMS), home)


@cli.command()
@shared
def check(home: Path, as_json: bool) -> int:
    """Check a home: states, history and stored values must agree.

    Reads only, also while an engine works on the home. The exit code is 1 where something is not as it should be.
    """
    from engine.cli.check import check as perform

    return perform(home, as_json=as_json)
