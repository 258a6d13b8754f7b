"""kill -9 in the middle of a dynamic task: `propwash resume` goes on inside its plan, and asks nobody for it again."""

from __future__ import annotations

import signal
import subprocess

import pytest

from tests.service.command import LIMIT_SECONDS, Propwash, endings, propwash

__all__ = ["endings", "propwash"]
pytestmark = pytest.mark.service("flytekit")
COUNT = 3


def wait_for_lines(process: subprocess.Popen[str], wanted: set[str]) -> None:
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        wanted.discard(" ".join(line.split()[:2]))
        if not wanted:
            return
    raise AssertionError(f"{wanted!r} did not come: {seen}")


def test_the_plan_is_taken_up_where_it_was(propwash: Propwash, endings: str) -> None:
    flag = propwash.folder / "go"
    inputs = ["--path", str(flag), "--count", str(COUNT)]
    words = ["run", "--name", "waiting", "--code-root", endings, endings, "plans_and_waits", *inputs]
    with propwash.started(*words) as process:
        done = {f"n0/0/dn{k} SUCCEEDED" for k in range(1, COUNT + 1)}
        wait_for_lines(process, {"n0 DYNAMIC_RUNNING", "n0/0/dn0 RUNNING", *done})
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=LIMIT_SECONDS)

    assert propwash("check").code == 0
    document = propwash("get", "waiting", "--json").document
    assert {node["path"]: node["phase"] for node in document["nodes"]} == {
        "n0": "DYNAMIC_RUNNING",
        "n0/0/dn0": "RUNNING",
        **{f"n0/0/dn{k}": "SUCCEEDED" for k in range(1, COUNT + 1)},
    }
    assert {node["path"]: node["task"] for node in document["nodes"]}["n0/0/dn0"] == "endings.wait_for"

    flag.touch()
    (document,) = propwash("resume", "--json").document
    texts = [str(flag), *(f"{flag}.{k}" for k in range(COUNT))]
    assert document["outputs"] == {"o0": texts}
    assert (propwash.folder / "go.plans").read_text() == "planned\n"
    assert [(propwash.folder / f"go.{k}").read_text() for k in range(COUNT)] == ["x"] * COUNT
    assert propwash("check").code == 0


def test_the_tree_shows_what_is_inside(propwash: Propwash, endings: str) -> None:
    flag = propwash.folder / "go"
    flag.touch()
    inputs = ["--path", str(flag), "--count", "1"]
    run = propwash("run", "--name", "planned", "--code-root", endings, endings, "plans_and_waits", *inputs)
    assert run.code == 0, run.err
    lines = propwash("get", "planned").out.splitlines()
    assert [(line.split()[0], line.split()[-1]) for line in lines if " task " in line] == [
        ("n0", "plan_to_wait"),
        ("n0/0/dn0", "wait_for"),
        ("n0/0/dn1", "append"),
    ]
