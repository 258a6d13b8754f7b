"""`recover --package` by the real command: a mended file, one that does not fit, and a package with its own code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.command import WORKFLOWS, Propwash, propwash

__all__ = ["propwash"]
pytestmark = pytest.mark.service("flytekit")

FIRST = """
from flytekit import map_task, task, workflow


@task
def numbers(n: int) -> list[int]:
    return list(range(n))


@task
def work(i: int) -> int:
    if i == 2:
        raise ValueError("a bug")
    return i * 10


@task
def total(xs: list[int]) -> int:
    return sum(xs)


@workflow
def wf(n: int = 4) -> int:
    return total(xs=map_task(work, concurrency=1)(i=numbers(n=n)))
"""
MENDED = FIRST.replace('raise ValueError("a bug")', 'print("mended")').replace("total", "total_of_all")


def _write(propwash: Propwash, text: str) -> str:
    file = Path(propwash.folder) / "flow.py"
    file.write_text(text)
    return str(file)


def _package(propwash: Propwash, text: str, name: str) -> str:
    _write(propwash, text)
    pyflyte = str(Path(sys.executable).with_name("pyflyte"))
    words = [pyflyte, "--pkgs", "flow", "package", "--image", "any:1", "--fast", "--output", name, "--force"]
    subprocess.run(words, cwd=propwash.folder, check=True, capture_output=True, timeout=90)
    return str(Path(propwash.folder) / name)


def test_a_file_that_was_mended(propwash: Propwash) -> None:
    file = _write(propwash, FIRST)
    assert propwash("run", file, "wf", "--name", "old").code == 1
    _write(propwash, MENDED)
    table = propwash("recover", "old", "--package", file, "--dry-run").out
    assert re.search("n0 +reused .*\nn1 +must run +2 of its 4 elements; 2 are reused\nn2 +must run", table), table

    done = propwash("recover", "old", "--package", file, "--name", "new", "--json")
    assert (done.code, done.document["outputs"]) == (0, {"o0": 60}), done.err
    assert [node["phase"] for node in done.document["nodes"]] == ["RECOVERED", "SUCCEEDED", "SUCCEEDED"]
    assert done.document["nodes"][2]["task"] == "flow.total_of_all"
    assert propwash("logs", "new", "n1[2]").out == "mended\n"
    assert propwash("logs", "new", "n0").err == (
        "node n0 did not run: its outputs were taken over from execution old: propwash logs old n0\n"
    )
    assert "n1[1] did not run" in propwash("logs", "new", "n1[1]").err
    assert propwash("check").code == 0
    assert propwash("replay", "new").code == 0


def test_one_that_does_not_fit_is_refused_and_nothing_is_started(propwash: Propwash) -> None:
    file = _write(propwash, FIRST)
    assert propwash("run", file, "wf", "--name", "old").code == 1
    before = propwash("list").out
    for text, problem in (
        (MENDED.replace("numbers", "figures"), "node n0, which has succeeded, runs flow.figures now, and ran flow.num"),
        (MENDED.replace("n: int = 4", "n: int, m: int = 4"), "input 'm' is new: the new execution has the inputs"),
        (MENDED.replace("def wf", "def wf2"), "there is no workflow or launch plan 'flow.wf'. There are: flow.wf2"),
        ("def wf(", "flow.py, line 1 is no Python"),
    ):
        _write(propwash, text)
        for words in (("--dry-run",), ()):
            refused = propwash("recover", "old", "--package", file, *words)
            assert (refused.code, refused.out) == (2, "")
            assert problem in refused.err
    missing = propwash("recover", "old", "--package", "nowhere.py")
    assert (missing.code, missing.err) == (2, "Error: there is no file or folder nowhere.py; nothing was started\n")
    assert propwash("list").out == before


def test_a_package_brings_its_mended_code(propwash: Propwash) -> None:
    old, new = _package(propwash, FIRST, "old.tgz"), _package(propwash, MENDED, "new.tgz")
    _write(propwash, "raise RuntimeError('not this one')")
    assert propwash("run", old, "flow.wf", "--name", "old").code == 1
    assert propwash("recover", "old", "--name", "same").code == 1
    done = propwash("recover", "old", "--package", new, "--json")
    assert (done.code, done.document["outputs"]) == (0, {"o0": 60}), done.err


def test_the_old_name_is_refused_and_a_repeated_one_is_told(propwash: Propwash) -> None:
    file = _write(propwash, MENDED)
    assert propwash("run", file, "wf", "--name", "old").code == 0
    taken = propwash("relaunch", "old", "--name", "old")
    assert (taken.code, taken.out) == (2, "")
    assert taken.err == "Error: execution old is the old one: the new one needs another name; nothing was started\n"
    assert propwash("relaunch", "old", "--name", "new").code == 0
    again = propwash("relaunch", "old", "--name", "new")
    assert (again.code, again.err) == (0, "execution new has SUCCEEDED already: this is its result, nothing ran\n")


def test_a_dynamic_task_plans_again_though_nothing_but_code_was_mended(propwash: Propwash) -> None:
    file, folder = str(WORKFLOWS / "recovering.py"), propwash.folder
    assert propwash("run", file, "plans", "--name", "old", "--folder", str(folder)).code == 1
    Path(folder / "mended").touch()
    told = Path(folder / "ran")
    told.unlink()
    table = propwash("recover", "old", "--package", file, "--dry-run").out
    assert "of a mended workflow its task plans again" in table
    done = propwash("recover", "old", "--package", file, "--name", "new", "--json")
    assert (done.code, done.document["outputs"]) == (0, {"o0": 30}), done.err
    ran = told.read_text().split("\n")
    assert "plan" in ran
    assert "first" not in ran
    assert propwash("check").code == 0
