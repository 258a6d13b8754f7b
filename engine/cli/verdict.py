"""From whatever ended a command to its exit code, with a short message on stderr."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import dataclass

import click

from engine.cli.elsewhere import advice
from engine.cli.exitcodes import ExitCode
from engine.cli.screen import OutputRefused, tell
from engine.model.errors import BadInput, Defect, EngineError, EngineGone, LogUnreachable, NoHome

LINES_SHOWN = 100


@dataclass(slots=True)
class Context:
    """What the messages depend on; one for each call of the command."""

    debug: bool = False
    hint: str = ""
    """How the accepted work goes on, if the engine stops now. Empty while nothing was accepted."""


def exit_code(error: BaseException, context: Context) -> int:
    """Tell what went wrong, in a line or two; the traceback only where it is a defect, or asked for."""
    found = sorted((_code(leaf, context), number, leaf) for number, leaf in enumerate(_leaves(error)))
    for code, _, leaf in found:
        if context.debug or code is ExitCode.DEFECT:
            tell("".join(traceback.format_exception(leaf)).rstrip())
        if isinstance(leaf, click.ClickException):
            leaf.show()
        elif code is not ExitCode.INTERRUPTED:
            tell(_message(leaf, code))
    worst = found[-1][0]
    if context.hint and worst is not ExitCode.BAD_INPUT:
        tell(context.hint)
    return worst


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """The errors that task groups have wrapped, each message once."""
    waiting, seen = [error], set[str]()
    while waiting:
        current = waiting.pop(0)
        if isinstance(current, BaseExceptionGroup):
            waiting[:0] = current.exceptions
        elif repr(current) not in seen:
            seen.add(repr(current))
            yield current


def _code(error: BaseException, context: Context) -> ExitCode:
    match error:
        case KeyboardInterrupt() | click.Abort():
            return ExitCode.INTERRUPTED
        case Defect():
            return ExitCode.DEFECT
        case click.ClickException():
            return ExitCode.BAD_INPUT
        case BadInput() if not context.hint:
            return ExitCode.BAD_INPUT
        case EngineError() | OSError() | OutputRefused():
            return ExitCode.ENGINE_STOPPED
    return ExitCode.DEFECT


def _message(error: BaseException, code: ExitCode) -> str:
    if code is ExitCode.DEFECT:
        return f"this is a defect of Propwash, please report it with the lines above: {type(error).__name__}: {error}"
    if code is ExitCode.ENGINE_STOPPED and not isinstance(error, OutputRefused | EngineGone | LogUnreachable):
        return f"the engine had to stop: {error}"
    return _bounded(f"Error: {error}{advice() if isinstance(error, NoHome) else ''}")


def _bounded(message: str) -> str:
    """The first lines of a message; a package may have thousands of problems."""
    lines = message.splitlines()
    if len(lines) <= LINES_SHOWN:
        return message
    return "\n".join([*lines[:LINES_SHOWN], f"  ... and {len(lines) - LINES_SHOWN} more lines"])
