"""`propwash check`: exit code 0 on what an engine leaves, 1 with a line for each thing that was broken since."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.service.command import Propwash, endings, propwash

__all__ = ["endings", "propwash"]
pytestmark = pytest.mark.service("flytekit")


def execute(home: Path, statement: str) -> None:
    with closing(sqlite3.connect(home / "log.db")) as connection, connection:
        connection.execute(statement)


def remove(home: Path, pattern: str) -> None:
    (found,) = (home / "store").glob(pattern)
    found.unlink()


def damage(home: Path) -> None:
    data = bytearray((home / "log.db").read_bytes())
    data[3 * 4096 : 5 * 4096] = b"\xff" * 8192
    (home / "log.db").write_bytes(data)


BREAKS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a gap": (
        lambda home: execute(home, "DELETE FROM history WHERE sequence = 5"),
        "execution flytesnacks:development:e: fact 6 follows fact 4; expected: fact 5",
    ),
    "a short history": (
        lambda home: execute(home, "DELETE FROM history WHERE sequence = (SELECT max(sequence) FROM history)"),
        "execution flytesnacks:development:e: its state is SUCCEEDED; expected: RUNNING, as its history ends",
    ),
    "a state is gone": (
        lambda home: execute(home, "DELETE FROM nodes WHERE path = 'n0'"),
        "node n0: has no state; expected: attempt 0 SUCCEEDED, as its history ends",
    ),
    "an execution is gone": (
        lambda home: execute(home, "DELETE FROM executions"),
        "execution flytesnacks:development:e: was submitted and is not there; expected: its state",
    ),
    "outputs are gone": (
        lambda home: remove(home, "metadata/propeller/*/n0/data/0/outputs.pb"),
        "node n0: no object at file://",
    ),
    "the cursor": (
        lambda home: execute(home, "UPDATE meta SET value = 1000 WHERE name = 'cursor'"),
        "the log: the cursor is 1000; expected: an event that is there: 0 to ",
    ),
    "a damaged file": (damage, "the log: the log is damaged: "),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, endings: str) -> Path:
    """A home with one finished map, and a copy of it beside it."""
    one = Propwash(tmp_path_factory.mktemp("whole"))
    done = one("run", "--name", "e", "--code-root", endings, endings, "all_even", "--ns", "[0, 2, 4]")
    assert done.code == 0, done.err
    shutil.copytree(one.home, one.folder / "copy")
    return one.home


def test_what_an_engine_leaves_is_in_order(propwash: Propwash, whole: Path) -> None:
    checked = propwash("check", "--home", str(whole))
    assert checked.code == 0, checked.out
    assert checked.out.endswith("0 dead letters: no problem\n")
    document = propwash("check", "--json", "--home", str(whole)).document
    assert document["problems"] == []
    assert (document["counts"]["executions"], document["counts"]["unfinished"], document["home"]) == (1, 0, str(whole))


@pytest.mark.parametrize("name", BREAKS)
def test_what_was_broken_is_named(propwash: Propwash, whole: Path, name: str) -> None:
    # Values are named by where they lie, so a home is broken in its own place.
    shutil.rmtree(whole)
    shutil.copytree(whole.with_name("copy"), whole)
    do, expected = BREAKS[name]
    do(whole)
    before = (whole / "log.db").read_bytes()
    checked = propwash("check", "--home", str(whole))
    assert checked.code == 1, checked.err
    assert expected in checked.out
    assert (whole / "log.db").read_bytes() == before


def test_where_no_home_is(propwash: Propwash) -> None:
    checked = propwash("check")
    assert (checked.code, checked.out) == (2, "")
    assert "there is no home at" in checked.err
