"""What `pyflyte package` writes, as an archive or a folder, with the code inside, damaged; odd names; by command."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.service.command import WORKFLOWS, Done, Propwash, propwash

__all__ = ["propwash"]
pytestmark = [pytest.mark.service("flytekit"), pytest.mark.timeout(600)]

LONG = "a" * 195
ODD_NAMES = f"""
from flytekit import LaunchPlan, map_task, task, workflow

print("printed while it is imported, on stdout")

@task
def t_{LONG}1(n: int) -> int:
    return n + 1

@task
def t_{LONG}2(n: int) -> int:
    return n + 2

@task
def größe(n: int) -> int:
    return n * 10

@workflow
def w_{LONG}(n: int, ns: list[int]) -> tuple[int, list[int]]:
    first = größe(n=n).with_overrides(node_name="Größe.Ü_1")
    return t_{LONG}2(n=t_{LONG}1(n=first)), map_task(t_{LONG}2)(n=ns)

plan = LaunchPlan.get_or_create(w_{LONG}, name="Ein Plan.mit_{LONG}", default_inputs={{"ns": [7]}})

@workflow
def calls(n: int) -> tuple[int, list[int]]:
    return plan(n=n)
"""


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package `flows`, and what pyflyte made of it: plain.tgz, fast.tgz."""
    folder = tmp_path_factory.mktemp("sources")
    shutil.copytree(WORKFLOWS / "nested" / "flows", folder / "flows")
    pyflyte = str(Path(sys.executable).with_name("pyflyte"))
    for name, options in (("plain.tgz", []), ("fast.tgz", ["--copy", "all"])):
        command = [pyflyte, "--pkgs", "flows", "package", "-f", *options, "-o", f"../{folder.name}-{name}"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        (folder.parent / f"{folder.name}-{name}").rename(folder / name)
    return folder


def outputs(done: Done) -> object:
    assert done.code == 0, done.err or done.out
    return done.document["outputs"]


def run(propwash: Propwash, *words: str) -> Done:
    return propwash("run", "--json", *words)


def test_an_archive_with_the_folder_of_its_code(propwash: Propwash, sources: Path) -> None:
    done = run(propwash, "--code-root", str(sources), str(sources / "plain.tgz"), "flows.main.shouted", "--text", "hé")
    assert outputs(done) == {"o0": "hé!"}


def test_a_folder_of_messages(propwash: Propwash, sources: Path) -> None:
    with tarfile.open(sources / "plain.tgz") as archive:
        archive.extractall(propwash.folder / "messages", filter="data")
    done = run(propwash, "--code-root", str(sources), "messages", "shouted", "--text", "a")
    assert outputs(done) == {"o0": "a!"}


def test_an_archive_that_brings_its_code_along(propwash: Propwash, sources: Path) -> None:
    assert outputs(run(propwash, str(sources / "fast.tgz"), "shouted", "--text", "b")) == {"o0": "b!"}


@pytest.mark.parametrize("form", ["plain.tgz", "fast.tgz"])
def test_what_a_dynamic_task_plans_finds_the_code_too(propwash: Propwash, sources: Path, form: str) -> None:
    root = ["--code-root", str(sources)] if form == "plain.tgz" else []
    done = run(propwash, *root, str(sources / form), "all_shouted", "--texts", '["a", "é"]')
    assert outputs(done) == {"o0": ["a!", "é!", "é!!", "a!"]}


def test_an_archive_that_was_cut_off(propwash: Propwash, sources: Path) -> None:
    data = (sources / "plain.tgz").read_bytes()
    (propwash.folder / "cut.tgz").write_bytes(data[: len(data) // 2])
    done = run(propwash, "cut.tgz", "shouted", "--text", "a")
    assert (done.code, done.out) == (2, "")
    assert "cut.tgz can't be used, 1 problem; nothing was started:\n  - the archive is damaged" in done.err


def test_long_and_foreign_names(propwash: Propwash) -> None:
    (propwash.folder / "odd_names.py").write_text(ODD_NAMES, encoding="utf8")
    done = run(propwash, "odd_names.py", "calls", "--n", "2")
    assert outputs(done) == {"o0": 23, "o1": [9]}


def test_a_name_of_a_run_whose_record_is_gone(propwash: Propwash) -> None:
    """What that run left in the store does not answer for the new one."""
    words = ("--name", "order-7", str(WORKFLOWS / "subworkflows.py"), "outer", "--n")
    assert outputs(run(propwash, *words, "1")) == {"o0": 4}
    assert run(propwash, *words, "3").code == 2
    for path in propwash.home.glob("log.db*"):
        path.unlink()
    assert outputs(run(propwash, *words, "3")) == {"o0": 12}
