"""`--help` after a workflow's name: its inputs, with types and defaults."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from engine.cli.arguments import Sections
from engine.cli.workflows import Chosen
from engine.wire.inputs import InputHelp

_WIDTH = 100


def workflow_help(ctx: click.Context, sections: Sections, chosen: Chosen) -> str:
    formatter = click.HelpFormatter(max_width=_WIDTH)
    words = f"{sections.file} {sections.workflow} [--INPUT VALUE ...] [OPTIONS]"
    formatter.write_usage(f"{ctx.find_root().info_name} {ctx.info_name}", words)
    with formatter.section(f"Inputs of {chosen.entity}"):
        if chosen.inputs:
            formatter.write_dl(_row(one) for one in chosen.inputs)
        else:
            formatter.write_text("none")
    formatter.write_paragraph()
    formatter.write_text(
        "Lists, dicts and dataclasses are given as JSON; a bool as --NAME or --no-NAME. --my-input and --my_input are "
        "the same. Where an input has the name of an option below, it is the input that is meant here."
    )
    ctx.command.format_options(ctx, formatter)
    return formatter.getvalue().rstrip("\n")


def names_help(file: str, names: Sequence[str]) -> str:
    """The workflows and launch plans that can be run."""
    if not names:
        return f"{file} holds no workflow and no launch plan"
    return "\n".join([f"Workflows and launch plans in {file}:", *(f"  {name}" for name in names)])


def _row(one: InputHelp) -> tuple[str, str]:
    return f"--{one.name}", f"{one.type}  [{'required' if one.required else f'default: {_text(one)}'}]"


def _text(one: InputHelp) -> str:
    return json.dumps(one.default, ensure_ascii=False)
