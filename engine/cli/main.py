"""The command line: one click group."""

from __future__ import annotations

from collections.abc import Sequence

import click


@click.group(name="propwash")
@click.version_option(package_name="propwash", prog_name="propwash")
def cli() -> None:
    """Run flytekit workflows: asynchronous, event-driven, durable."""


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments: Sequence[str] | None = argv
    return int(cli.main(args=arguments, standalone_mode=False) or 0)
