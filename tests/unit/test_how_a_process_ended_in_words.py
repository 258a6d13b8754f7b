from __future__ import annotations

import errno
import signal

import pytest

from engine.adapters.processes import exits
from engine.adapters.processes.messages import Ended, Failed
from engine.model.errors import Transient
from engine.ports.taskrunner import Exit, ExitReason

MIB = 1024 * 1024


def ended(status: int, tail: str = "", left_behind: int = 0) -> Ended:
    return Ended(1, status, 20.0, 100 * MIB, tail, left_behind, "")


def test_an_exit_status_comes_with_the_end_of_stderr() -> None:
    told = exits.of_end(ended(3 << 8, "\n oops \n"), 10.0)
    assert told == Exit(ExitReason.EXITED, 3, "oops", 10.0, 20.0)


def test_a_signal_comes_with_its_name_and_the_peak_memory() -> None:
    """Many deaths by SIGKILL are the kernel's, for want of memory."""
    told = exits.of_end(ended(signal.SIGKILL, "last words"), 10.0)
    assert told == Exit(ExitReason.SIGNALLED, 9, "last words\n(SIGKILL; peak memory 100 MiB)", 10.0, 20.0)


def test_a_core_dump_is_a_signal_too() -> None:
    assert exits.of_end(ended(signal.SIGSEGV | 0x80), 10.0).code == 11


def test_a_signal_without_a_name() -> None:
    assert "(signal 35; " in exits.of_end(ended(35), 10.0).message


def test_processes_left_behind_are_told() -> None:
    assert exits.of_end(ended(0, left_behind=2), 1.0).message == "(processes it left behind, ended with it: 2)"


def test_a_timeout_says_what_was_done() -> None:
    told = exits.of_timeout(ended(15, "stuck\n"), 30.0, 5.0, 10.0, 99.0)
    assert told == Exit(
        ExitReason.TIMED_OUT,
        0,
        "it had not ended 30 s after its start; its processes got SIGTERM, and SIGKILL for those that were still there "
        "5 s later\nIts stderr ended with:\nstuck",
        10.0,
        20.0,
    )


def test_a_program_that_is_not_there_is_refused_with_where_it_was_looked_for() -> None:
    failed = Failed(1, errno.ENOENT, "No such file or directory")
    assert exits.of_failure(failed, "convert", "/venv/bin:/bin") == Exit(
        ExitReason.REFUSED,
        errno.ENOENT,
        "the command 'convert' can't be run: No such file or directory; looked for it in /venv/bin:/bin",
    )
    assert exits.of_failure(failed, "/x/y", "/bin").message.endswith("No such file or directory")
    assert exits.of_failure(failed, "pyflyte-execute", "/b").message.endswith("; is flytekit installed there?")


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENOSPC])
def test_a_shortage_is_no_verdict(number: int) -> None:
    with pytest.raises(Transient, match="'x' could not be started: no more"):
        exits.of_failure(Failed(1, number, "no more"), "x", "/bin")
