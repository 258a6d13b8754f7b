"""From an error to the exit code and the message: short, on stderr, with a traceback only for a defect."""

from __future__ import annotations

import click
import pytest

from engine.cli.exitcodes import ExitCode
from engine.cli.verdict import Context, exit_code
from engine.model.errors import BadInput, Defect, HomeInUse, LogFailed, StoreRefused, Transient

HINT = "goes on with: propwash resume"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (click.UsageError("no such option"), ExitCode.BAD_INPUT),
        (BadInput("no such workflow"), ExitCode.BAD_INPUT),
        (HomeInUse("in use"), ExitCode.BAD_INPUT),
        (LogFailed("disk full"), ExitCode.ENGINE_STOPPED),
        (StoreRefused("odd name"), ExitCode.ENGINE_STOPPED),
        (Transient("later"), ExitCode.ENGINE_STOPPED),
        (OSError(28, "No space left on device"), ExitCode.ENGINE_STOPPED),
        (Defect("impossible"), ExitCode.DEFECT),
        (ZeroDivisionError("oops"), ExitCode.DEFECT),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED),
        (click.Abort(), ExitCode.INTERRUPTED),
        (ExceptionGroup("tasks", [ExceptionGroup("more", [LogFailed("disk full")])]), ExitCode.ENGINE_STOPPED),
        (ExceptionGroup("tasks", [BadInput("a"), KeyError("b")]), ExitCode.DEFECT),
    ],
)
def test_the_code_of_an_error(error: BaseException, code: ExitCode, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(error, Context()) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert ("Traceback" in printed.err) is False or code is ExitCode.DEFECT


def test_a_message_stands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    exit_code(ExceptionGroup("tasks", [BadInput("n0 is odd"), BadInput("n0 is odd")]), Context())
    assert capsys.readouterr().err == "Error: n0 is odd\n"


def test_an_engine_that_stops_says_how_the_accepted_work_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(LogFailed("disk full"), Context(hint=HINT)) == ExitCode.ENGINE_STOPPED
    assert capsys.readouterr().err == f"the engine had to stop: disk full\n{HINT}\n"


def test_bad_input_after_work_was_accepted_is_the_engines_trouble() -> None:
    assert exit_code(BadInput("package is damaged"), Context(hint=HINT)) == ExitCode.ENGINE_STOPPED


def test_a_defect_shows_where(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        raise ZeroDivisionError("oops")
    except ZeroDivisionError as error:
        exit_code(error, Context())
    printed = capsys.readouterr().err
    assert "Traceback" in printed
    assert "please report it" in printed.splitlines()[-1]


def test_debug_shows_the_traceback_of_any_error(capsys: pytest.CaptureFixture[str]) -> None:
    exit_code(BadInput("n0 is odd"), Context(debug=True))
    assert capsys.readouterr().err.startswith("engine.model.errors.BadInput: n0 is odd\n")
