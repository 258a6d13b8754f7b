"""Takes the arguments of `propwash run` apart: options, FILE, WORKFLOW, and the inputs of that workflow.

Which `--NAME`s are inputs is known only when the workflow has been read. So the arguments after WORKFLOW are read
twice: first with every option taken for one of ours, then with the inputs at hand, which win.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

HELP = "--help"


@dataclass(frozen=True, slots=True)
class Sections:
    options: tuple[str, ...]
    """Ours, before FILE and between FILE and WORKFLOW."""
    file: str = ""
    workflow: str = ""
    rest: tuple[str, ...] = ()
    """What comes after WORKFLOW, or from the first argument on that can't come before it."""


@dataclass(slots=True)
class Rest:
    options: list[str] = field(default_factory=list)
    """Ours."""
    given: dict[str, str | bool] = field(default_factory=dict)
    """By input name: the text that was typed, or whether a flag was set."""
    help: bool = False
    problems: list[str] = field(default_factory=list)


def split(arguments: Sequence[str], ours: Mapping[str, bool]) -> Sections:
    """`ours`: the options of propwash (`--home`), and whether each takes a value."""
    options: list[str] = []
    positional: list[str] = []
    waiting = list(arguments)
    while waiting and len(positional) < 2:
        name, equals, _ = waiting[0].partition("=")
        if not name.startswith("-") or name == "-":
            positional.append(waiting.pop(0))
        elif name == "--":
            waiting.pop(0)
        elif positional and (name not in ours or name == HELP):
            break
        else:
            count = 2 if ours.get(name) and not equals else 1
            options += waiting[:count]
            del waiting[:count]
    file, workflow = [*positional, "", ""][:2]
    return Sections(tuple(options), file, workflow, tuple(waiting))


def read_rest(arguments: Sequence[str], ours: Mapping[str, bool], inputs: Mapping[str, bool] | None = None) -> Rest:
    """`inputs`: the workflow's inputs, and whether each is a bool; None: not known yet."""
    rest, waiting = Rest(), list(arguments)
    while waiting:
        argument = waiting.pop(0)
        name, equals, _ = argument.partition("=")
        known = _input_name(name, inputs or {})
        if not name.startswith("--") or name == "--":
            rest.problems.append(f"unexpected argument {argument!r}: inputs are given as --NAME VALUE")
        elif known is None and name in ours:
            rest.help = rest.help or name == HELP
            rest.options.append(argument)
            if ours[name] and not equals and waiting:
                rest.options.append(waiting.pop(0))
        else:
            _take_input(rest, argument, known, waiting, inputs or {})
    return rest


def meant_options(given: Iterable[str], inputs: Collection[str], ours: Collection[str]) -> Iterator[str]:
    """A line for each name that is no input and looks like an option of ours: a misspelt one was taken for an input."""
    for name in given:
        typed = f"--{name.replace('_', '-')}"
        near = get_close_matches(typed, ours, n=1, cutoff=0.75) if name not in inputs else []
        if near and not get_close_matches(name, inputs, n=1):
            yield f"Did you mean the option {near[0]} by {typed}?"


def _take_input(rest: Rest, argument: str, known: str | None, waiting: list[str], inputs: Mapping[str, bool]) -> None:
    """Read the value of an input, which may be the next argument."""
    typed, equals, text = argument.partition("=")
    name = known or _plain(typed)
    value: str | bool
    if equals:
        value = text
    elif known is not None and inputs[known]:
        value = waiting.pop(0) if waiting and not waiting[0].startswith("--") else not _negates(typed, known)
    elif waiting and (known is not None or not waiting[0].startswith("--")):
        value = waiting.pop(0)
    elif known is None:
        value = True  # nobody knows yet, or nobody knows it at all: then its name is the mistake
    else:
        rest.problems.append(f"{typed} needs a value")
        return
    if name in rest.given:
        rest.problems.append(f"{typed} is given twice")
    rest.given[name] = value


def _input_name(typed: str, inputs: Mapping[str, bool]) -> str | None:
    """The input that `--my-input`, `--my_input` or, for a bool, `--no-my-input` means."""
    if typed.removeprefix("--") in inputs:
        return typed.removeprefix("--")
    plain = {_plain(name): name for name in inputs}
    wanted = _plain(typed)
    if wanted in plain:
        return plain[wanted]
    positive = plain.get(wanted.removeprefix("no_"))
    return positive if positive is not None and inputs[positive] else None


def _negates(typed: str, known: str) -> bool:
    return _plain(typed) != _plain(known)


def _plain(name: str) -> str:
    return name.removeprefix("--").replace("-", "_")
