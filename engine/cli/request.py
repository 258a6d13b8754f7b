"""What a person asked `propwash run` for, once it is known which arguments are inputs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.cli.arguments import HELP, Rest, Sections, read_rest
from engine.model.architectures import ArchitectureName
from engine.model.errors import BadInput

if TYPE_CHECKING:
    from config.settings import Settings

_BEFORE_THE_HOME = ("--home", "--config", "--set", "--store")
"""Options that must be certain before a home is opened."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    home: Path
    as_json: bool
    config: Path | None
    sets: tuple[str, ...]
    name: str | None
    inputs_file: Path | None
    code_root: Path | None
    project: str | None
    domain: str | None
    overwrite_cache: bool
    architecture: ArchitectureName | None


@dataclass(frozen=True, slots=True)
class Request:
    options: RunOptions
    settings: Settings
    rest: Rest

    @property
    def project(self) -> str:
        return self.options.project or self.settings.execution.project

    @property
    def domain(self) -> str:
        return self.options.domain or self.settings.execution.domain

    @property
    def place(self) -> tuple[str, str, Path, Path | None]:
        """What the ids and the code root of a package depend on."""
        return self.project, self.domain, self.options.home, self.options.code_root

    @property
    def home_is_certain(self) -> bool:
        """No input of the workflow can turn out to have taken the place of an option that names or changes the home."""
        late = {option.partition("=")[0] for option in self.rest.options}
        return not self.rest.help and late.isdisjoint(_BEFORE_THE_HOME)


def guess(ctx: click.Context, sections: Sections, ours: Mapping[str, bool]) -> Request:
    """The request while the inputs are not known: what looks like an option of ours is one, if that makes sense."""
    rest = read_rest(sections.rest, ours)
    try:
        options = _options(ctx, sections, rest.options)
        return Request(options, load_settings(options.config, options.sets), rest)
    except (click.UsageError, BadInput):
        if not rest.options:
            raise
    options = _options(ctx, sections, ())
    return Request(options, load_settings(options.config, options.sets), rest)


def resolve(ctx: click.Context, sections: Sections, ours: Mapping[str, bool], inputs: Mapping[str, bool]) -> Request:
    """The request, with the workflow's inputs known: name -> whether it is a bool. Raises UsageError, BadInput."""
    rest = read_rest(sections.rest, ours, inputs)
    options = _options(ctx, sections, rest.options)
    return Request(options, load_settings(options.config, options.sets), rest)


def load_settings(config: Path | None, sets: Sequence[str]) -> Settings:
    """Raises BadInput with every problem."""
    from config.load import SettingsError, load

    try:
        return load(config, sets, os.environ)
    except SettingsError as error:
        raise BadInput(str(error)) from error


def said_settings(config: Path | None, sets: Sequence[str]) -> Settings | None:
    """The settings, where somebody says any; None: all are as they are without. Reading them takes a look its time.

    Raises BadInput.
    """
    if config is None and not sets and not any(map(_says, os.environ)):
        return None
    return load_settings(config, sets)


def _says(variable: str) -> bool:
    return variable.startswith("PROPWASH_") and variable not in ("PROPWASH_HOME", "PROPWASH_DEBUG")


def _options(ctx: click.Context, sections: Sections, late: Sequence[str]) -> RunOptions:
    words = [*sections.options, *(word for word in late if word != HELP), sections.file]
    again = ctx.command.make_context(ctx.info_name, words, parent=ctx.parent, obj=ctx.obj)
    return RunOptions(**again.params)
