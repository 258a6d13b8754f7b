"""Options that several commands have, and how they are read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from engine.cli import logs
from engine.model.ids import DNS_LABEL
from engine.model.phases import ExecutionPhase

_F = TypeVar("_F", bound=Callable[..., Any])
_VERBOSE, _AS_JSON = "propwash.verbose", "propwash.log_format"
_SHORT = "propwash.short"
"""Where a command's context keeps what short options for settings said, until --set is read."""


def _set_debug(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.obj.debug = ctx.obj.debug or value


def _set_verbose(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.meta[_VERBOSE] = value
    _configure_logs(ctx)


def _set_log_format(ctx: click.Context, param: click.Parameter, value: str) -> None:
    ctx.meta[_AS_JSON] = value == "json"
    _configure_logs(ctx)


def _configure_logs(ctx: click.Context) -> None:
    """After each of the two options: the second one knows both."""
    logs.configure(verbose=ctx.meta.get(_VERBOSE, False), as_json=ctx.meta.get(_AS_JSON, False))


def label(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not DNS_LABEL.match(value):
        raise click.BadParameter(
            f"{value!r} is no DNS label: 1 to 63 of a-z, 0-9 and '-', neither first nor last a dash"
        )
    return value


def _keep(setting: str, ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    # A command line may be read again, when it is known which words belong to the workflow: the last reading counts.
    ctx.meta[_SHORT] = {**ctx.meta.get(_SHORT, {}), setting: value}


def _with_short(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    short: dict[str, str | None] = ctx.meta.get(_SHORT, {})
    return (*value, *(f"{setting}={said}" for setting, said in short.items() if said is not None))


def shared(function: _F) -> _F:
    """Options of every command that can print JSON."""
    help = "Print JSON on stdout, and nothing else there."
    return common(click.option("--json", "as_json", is_flag=True, help=help)(function))


def common(function: _F) -> _F:
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
        click.option(
            "--log-format",
            type=click.Choice(["console", "json"]),
            default="console",
            callback=_set_log_format,
            expose_value=False,
            help="How log lines are written: for people, or one JSON object each.",
        ),
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


def settings(function: _F) -> _F:
    """Options of commands that run an engine."""
    for decorate in (
        click.option(
            "--set",
            "sets",
            multiple=True,
            metavar="KEY=VALUE",
            callback=_with_short,
            help="Override a setting; repeatable.",
        ),
        click.option(
            "--store",
            metavar="URI",
            callback=partial(_keep, "store.uri"),
            expose_value=False,
            is_eager=True,
            help="Where a new home keeps its values: s3://BUCKET/PREFIX; the same as --set store.uri=URI.",
        ),
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


def on_kafka(function: _F) -> _F:
    """An option of commands that reach engines on Kafka as well as the engine of a home."""
    return click.option(
        "--kafka",
        metavar="HOST:PORT",
        callback=partial(_keep, "kafka.bootstrap"),
        expose_value=False,
        is_eager=True,
        help="Reach the engines on these brokers, not that of a home; the same as --set kafka.bootstrap=HOST:PORT.",
    )(function)


class _Phase(click.Choice[str]):
    """In an error, the phases as they are shown everywhere."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is none of {', '.join(self.choices)}", param, ctx)


def filters(function: _F) -> _F:
    """Options that say what is listed: of executions, of what is registered, and of both."""
    phases = [phase.value for phase in ExecutionPhase]
    for decorate in (
        click.option(
            "--children/--no-children",
            default=None,
            help="Child executions, which launch plan nodes start, too.  [default: with --json only]",
        ),
        click.option("--newest-first", is_flag=True, help="The newest submission first, in place of the oldest."),
        click.option("--all-versions", "every_version", is_flag=True, help="Registered: not the latest only."),
        click.option("--version", default="", metavar="TEXT", help="Registered: of this version."),
        click.option("--name", default="", metavar="NAME", help="Registered: of this name, or ending in it."),
        click.option("--limit", type=click.IntRange(min=0), metavar="N", help="N of them; of executions the newest."),
        click.option("--domain", metavar="NAME", help="Of this domain."),
        click.option("--project", metavar="NAME", help="Of this project."),
        click.option(
            "--since",
            "since_seconds",
            callback=duration,
            metavar="DURATION",
            help="Submitted within 90s, 30m, 2h, 1d ...",
        ),
        click.option(
            "--workflow", default="", metavar="NAME", help="Of this workflow or launch plan, or ending in it."
        ),
        click.option(
            "--phase",
            "phases",
            multiple=True,
            type=_Phase(phases, case_sensitive=False),
            metavar="PHASE",
            help="In this phase; repeatable.",
        ),
    ):
        function = decorate(function)
    return function


def duration(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """Seconds."""
    from engine.wire.moments import SECOND, parse_duration

    try:
        seconds = None if value is None else parse_duration(value) / SECOND
    except ValueError as error:
        raise click.BadParameter(f"{value!r}: {error}") from error
    if seconds is not None and seconds < 0:
        raise click.BadParameter(f"{value!r} is less than nothing")
    return seconds
