"""Ctrl-C and SIGTERM: the state is kept, a line says how to go on, and `propwash resume` finishes the work."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from tests.service.command import LIMIT_SECONDS, Propwash, endings, propwash

__all__ = ["endings", "propwash"]
pytestmark = pytest.mark.service("flytekit")


def wait_for_line(process: subprocess.Popen[str], wanted: str) -> None:
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if line.rstrip() == wanted:
            return
    raise AssertionError(f"{wanted!r} did not come: {seen}")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_what_was_interrupted_is_resumed(propwash: Propwash, endings: str, number: int, code: int) -> None:
    flag = propwash.folder / "go"
    words = ["run", "--name", "waiting", "--code-root", endings, endings, "waits", "--path", str(flag)]
    with propwash.started(*words) as process:
        wait_for_line(process, "n0 RUNNING")
        assert propwash("get", "waiting", "--json").document["worked_on"] is True
        process.send_signal(number)
        _, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == code
    assert err.splitlines()[-1] == f"execution waiting goes on with: propwash resume --home {propwash.home}"

    document = propwash("get", "waiting", "--json").document
    assert (document["phase"], document["nodes"][0]["phase"], document["worked_on"]) == ("RUNNING", "RUNNING", False)
    advice = f"no engine works on this home; it goes on with: propwash resume --home {propwash.home}"
    assert propwash("get", "waiting").out.splitlines()[-1] == advice
    flag.touch()
    resumed = propwash("resume", "--json")
    assert resumed.code == 0
    (document,) = resumed.document
    assert (document["execution"]["name"], document["outputs"]) == ("waiting", {"o0": str(flag)})
    assert document["nodes"][0]["attempts"] == 1, "an interruption is no failure"
    assert propwash("resume", "--json").document == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_leaves_at_once_and_takes_the_tasks_along(
    propwash: Propwash, endings: str, number: int
) -> None:
    flag = propwash.folder / "go"
    os.mkfifo(f"{flag}.life")
    words = ["run", "--name", "waiting", "--code-root", endings, endings, "waits", "--path", str(flag)]
    # Opening the pipe waits until the task has it open too.
    with propwash.started(*words) as process, open(f"{flag}.life") as life:
        process.send_signal(number)
        process.send_signal(number)
        assert process.wait(timeout=LIMIT_SECONDS) == 128 + number
        assert life.read() == "", "at its end: the task is gone"
    os.remove(f"{flag}.life")

    assert propwash("check").code == 0
    flag.touch()
    (document,) = propwash("resume", "--json").document
    assert (document["outputs"], document["nodes"][0]["attempts"]) == ({"o0": str(flag)}, 1)
    assert propwash("check").code == 0


def test_a_failed_execution_makes_resume_exit_1(propwash: Propwash, endings: str) -> None:
    flag = propwash.folder / "go"
    words = ["run", "--name", "waiting", "--code-root", endings, endings, "waits", "--path", str(flag)]
    with propwash.started(*words) as process:
        wait_for_line(process, "n0 RUNNING")
        process.kill()
    os.rename(endings, f"{endings}.away")
    try:
        resumed = propwash("resume")
    finally:
        os.rename(f"{endings}.away", endings)
    assert resumed.code == 1
    assert "resuming waiting\n" in resumed.out
    assert "execution waiting FAILED after" in resumed.err
